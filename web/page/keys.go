package page

import (
	"fmt"

	"github.com/highwater-kafka/highwater/web/keys"
)

// orSteps and orSpread stand for what there is not yet, so that the page has all
// the places into which its script will write.
func orSteps(s *keys.Steps) keys.Steps {
	if s == nil {
		return keys.Steps{}
	}
	return *s
}

func orSpread(s *keys.Spread) keys.Spread {
	if s == nil {
		return keys.Spread{}
	}
	return *s
}

func moreBytes(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", the last %d not shown", n)
}

func moreKeys(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more", n)
}
