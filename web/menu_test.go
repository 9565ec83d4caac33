package web

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/highwater-kafka/highwater/web/page"
)

func TestAConceptLeadsToScenariosAboutIt(t *testing.T) {
	cards := []Card{
		{ID: "a", Title: "Writes", Explain: []string{"why the ISR matters"}}, {ID: "b", Title: "Below min ISR"}, {ID: "c", Title: "ISR and more"}, {ID: "mine", Title: "My ISR", Local: true},
		{ID: "d", Title: "Groups", Chapters: []string{"In sync again"}},
	}
	var ids []string
	for _, s := range about("isr", cards) {
		ids = append(ids, s.Href)
	}
	assert.Equal(t, []string{"/s/b", "/s/c", "/s/a", "/s/d"}, ids)
	assert.Empty(t, about("retention", cards))
}

func TestTheMenuHasLessonsFirstThenTracksInTheirOrder(t *testing.T) {
	all := []Card{
		{ID: "own", Title: "Own", Local: true}, {ID: "hidden", Track: "Keys", Hidden: true}, {ID: "zoo", Track: "Zoo"}, {ID: "k", Track: "Keys", Next: "own"}, {ID: "f", Track: "Failure", Level: "expert"},
		{ID: "e", Track: "Failure", Level: "beginner", Chapters: []string{"The rope moves"}},
		{ID: "second", Lesson: 2, Track: "Failure", Explain: []string{"who leads"}}, {ID: "first", Lesson: 1},
	}
	list := func(q string) (out []string) {
		for _, s := range sections(all, q) {
			out = append(out, s.Title+":")
			for _, c := range s.Cards {
				out = append(out, c.ID)
			}
		}
		return out
	}
	assert.Equal(t, []string{"Start here:", "first", "second", "Failure:", "e", "f", "Keys:", "k", "Zoo:", "zoo", "More:", "own"}, list(""))
	assert.Equal(t, []string{"Start here:", "second", "Failure:", "e", "f"}, list("FAILURE"))
	assert.Equal(t, []string{"Failure:", "e"}, list("rope"), "chapters are searched too")
	assert.Equal(t, []string{"Start here:", "second"}, list("leads who"))
	assert.Equal(t, []string{"Failure:", "f"}, list("expert"))
	assert.Empty(t, list("nothing like it"))
	assert.Equal(t, &page.Link{Href: "/s/own", Title: "Own"}, sections(all, "")[2].Cards[0].Next)
	assert.Equal(t, "Scenarios", sections(all[:1], "")[0].Title)
}
