// Package static holds what browsers load beside the pages: style sheets, the font
// and the ES modules. The files are minified once, when they are first asked for,
// and served under a hash over all of them, so they may be cached for ever and a new
// version is never mixed with an old one.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed css js font
var files embed.FS

// served are the files as browsers get them, by name.
var served = sync.OnceValue(func() map[string][]byte {
	small := map[string]minify.Minifier{
		// A module's own names stay, so that a stack trace in a report can be read.
		".js":  &js.Minifier{KeepVarNames: true},
		".css": &css.Minifier{},
	}
	all := map[string][]byte{}
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if m := small[path.Ext(name)]; m != nil && err == nil {
			var out bytes.Buffer
			// What cannot be minified is served as it is; a test says that there is no such file.
			if m.Minify(minify.New(), &out, bytes.NewReader(data), nil) == nil {
				data = out.Bytes()
			}
		}
		all[name] = data
		return err
	})
	return all
})

// File is css/…, js/… or font/… as a browser gets it.
func File(name string) ([]byte, bool) {
	data, ok := served()[name]
	return data, ok
}

// Hash names the content of all files.
var Hash = sync.OnceValue(func() string {
	all := served()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		h.Write([]byte(name + "\x00"))
		h.Write(all[name])
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
})

// StageCSS is the style sheet of the stage alone, for pictures that stand outside a page.
func StageCSS() string {
	data, _ := files.ReadFile("css/stage.css") // embedded: it is always there
	return string(data)
}
