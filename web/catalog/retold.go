package catalog

import (
	"strings"

	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/retell"
)

func told(ch scenarios.ResolvedChapter) *web.Told {
	if ch.Told == nil {
		return nil
	}
	t := web.Told(*ch.Told)
	return &t
}

// retold puts a run into library words: its captions, questions, and what the
// stage derives. The journal and its sentences stay as they are.
func retold(r *web.Run) {
	r.Words = retell.Words
	r.Summary = retell.Sentence(r.Summary)
	for i := range r.Chapters {
		c := &r.Chapters[i]
		t := c.Told
		if t == nil {
			t = &web.Told{}
		}
		c.Title, c.Say = either(t.Title, c.Title), either(t.Say, c.Say)
		if c.Ask == nil {
			continue
		}
		ask := *c.Ask
		ask.Question, ask.Because = either(t.Question, ask.Question), either(t.Because, ask.Because)
		ask.Options = make([]string, len(c.Ask.Options))
		for k, o := range c.Ask.Options {
			own := ""
			if len(t.Options) > 0 {
				own = t.Options[k]
			}
			ask.Options[k] = either(own, o)
		}
		c.Ask = &ask
	}
	for n, changes := range r.View {
		out := make([]journal.Change, len(changes))
		for i, ch := range changes {
			out[i] = ch
			if s, ok := ch.Val.(string); ok && strings.HasPrefix(ch.Key, "v/") && !retell.Quorum(ch.Key) {
				out[i].Val = retell.Label(s)
			}
		}
		r.View[n] = out
	}
}

func either(own, kafka string) string {
	if own != "" {
		return own
	}
	return retell.Sentence(kafka)
}
