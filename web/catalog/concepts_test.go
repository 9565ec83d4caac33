package catalog_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
	"github.com/highwater-kafka/highwater/web/concepts"
	"github.com/highwater-kafka/highwater/web/glossary"
)

// server is one for all tests that only read: it runs each scenario once.
var server = sync.OnceValue(func() *web.Server {
	limits := web.DefaultLimits()
	limits.RunsPerSecond = 1000
	return web.New(catalog.New(""), limits)
})

func get(t *testing.T, s http.Handler, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	require.Equal(t, http.StatusOK, w.Code, path)
	return w.Body.String()
}

func TestEveryClipShowsWhatItNames(t *testing.T) {
	c := catalog.New("")
	for _, x := range concepts.All() {
		if x.Clip == nil {
			continue
		}
		t.Run(x.ID, func(t *testing.T) {
			run, problem := c.Open(t.Context(), web.OpenRequest{Scenario: x.Clip.Scenario})
			require.Nil(t, problem, "the scenario is there")
			found := false
			for _, ch := range run.Chapters {
				found = found || ch.ID == x.Clip.Chapter
			}
			assert.True(t, found, "chapter %s of %s", x.Clip.Chapter, x.Clip.Scenario)
			names := strings.Join(run.Rows, " ") + " c1 c2 c3"
			for _, p := range run.Scenario.Producers {
				names += " " + p.ID
			}
			for _, g := range run.Scenario.Groups {
				names += " " + g.ID
				for _, m := range g.Members {
					names += " " + m.ID
				}
			}
			for _, s := range x.Clip.Show {
				assert.Contains(t, strings.Fields(names), s)
			}
		})
	}
}

func TestTheConceptsPageHasEveryWordAndEveryClip(t *testing.T) {
	s := server()
	html := get(t, s, "/concepts")
	for _, term := range glossary.All() {
		assert.Equal(t, 1, strings.Count(html, ` id="`+term.ID+`"`), "%s has one place", term.ID)
	}
	clips := 0
	for _, c := range concepts.All() {
		if c.Clip != nil {
			clips++
		}
	}
	assert.Equal(t, clips, strings.Count(html, `<figure class="clip"`), "no clip fell out")
	stills := regexp.MustCompile(`<img src="(/still/[^"]+)"`).FindAllStringSubmatch(html, -1)
	require.Len(t, stills, clips)
	for _, m := range stills {
		assert.Contains(t, get(t, s, strings.ReplaceAll(m[1], "&amp;", "&")), `data-layout="clip"`)
	}
}

// TestNoSignOfTheStageHasTheNameOfAPlace: a page with both would draw nothing for it.
func TestNoSignOfTheStageHasTheNameOfAPlace(t *testing.T) {
	s := server()
	ids := regexp.MustCompile(` id="([^"]+)"`)
	places := map[string]bool{}
	for _, m := range ids.FindAllStringSubmatch(get(t, s, "/concepts"), -1) {
		places[m[1]] = true
	}
	for _, m := range ids.FindAllStringSubmatch(get(t, s, "/still/producer-write.svg?layout=clip"), -1) {
		assert.False(t, places[m[1]], m[1])
	}
}

func TestASmallStageShowsOnlyWhatIsNamed(t *testing.T) {
	s := server()
	svg := get(t, s, "/still/producer-write.svg?layout=clip&chapter=append&show=orders-1,order-service,c2")
	assert.Contains(t, svg, `data-part="orders-1"`)
	assert.Contains(t, svg, `data-node="order-service"`)
	assert.Contains(t, svg, `data-node="c2"`)
	for _, gone := range []string{`data-part="orders-0"`, `data-node="payment-service"`, `data-node="c1"`, `data-node="group-a"`} {
		assert.NotContains(t, svg, gone)
	}
	assert.Contains(t, svg, `data-broker="b3"`, "brokers stay")
}
