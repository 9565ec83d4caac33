package kafka

// NearestKey is the known key of a scope that is most like an unknown one, "" if
// none is near.
func NearestKey(scope, key string) string { return Nearest(key, ConfigKeys(scope)) }

// Nearest is the word most like another by edit distance, the first of equals; ""
// if more than half of the word would have to change.
func Nearest(word string, words []string) string {
	best, dist := "", len(word)/2+1
	for _, w := range words {
		if d := editDistance(word, w); d < dist {
			best, dist = w, d
		}
	}
	return best
}

func editDistance(a, b string) int {
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		diag := prev[0]
		prev[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, prev[j+1] = prev[j+1], min(prev[j+1]+1, prev[j]+1, diag+cost)
		}
	}
	return prev[len(b)]
}
