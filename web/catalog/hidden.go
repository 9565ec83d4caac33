package catalog

import (
	"embed"
	"sync"

	"github.com/highwater-kafka/highwater/scenarios"
)

//go:embed concepts/*.yaml
var conceptFiles embed.FS

// hidden are small scenarios that the concepts page plays moments of. They have a
// page of their own, and no place in the menu.
var hidden = sync.OnceValue(func() []*scenarios.Scenario {
	entries, err := conceptFiles.ReadDir("concepts")
	if err != nil {
		panic(err)
	}
	var out []*scenarios.Scenario
	for _, e := range entries {
		src, err := conceptFiles.ReadFile("concepts/" + e.Name())
		if err != nil {
			panic(err)
		}
		sc, ps := scenarios.Load(e.Name(), src)
		if len(ps) > 0 {
			panic(ps.Error()) // a test reads them all
		}
		out = append(out, sc)
	}
	return out
})
