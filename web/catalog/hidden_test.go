package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

func TestTheScenariosOfTheConceptsPageHold(t *testing.T) {
	files, err := filepath.Glob("concepts/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	cards := map[string]web.Card{}
	for _, c := range catalog.New("").Menu() {
		cards[c.ID] = c
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		sc, ps := scenarios.Load(file, src)
		require.Empty(t, ps)
		assert.Nil(t, scenarios.Lookup(sc.ID), "%s is no built-in scenario", sc.ID)
		assert.True(t, cards[sc.ID].Hidden, "%s is not in the menu", sc.ID)
		o, err := catalog.Simulate(sc)
		require.NoError(t, err)
		assert.True(t, o.OK(), "%s: %+v", sc.ID, o.Verdict)
		assert.Len(t, o.Chapters, len(sc.Chapters))
	}
}
