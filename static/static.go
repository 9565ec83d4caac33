// Package static embeds what browsers load beside the pages: style sheets, the
// font and the ES modules. Files are served under a hash over all of them, so
// they may be cached for ever and a new version is never mixed with an old one.
package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"sync"
)

//go:embed css js font
var files embed.FS

// FS holds css/…, js/… and font/….
func FS() fs.FS { return files }

// Hash names the content of all files; WalkDir's order makes it stable.
var Hash = sync.OnceValue(func() string {
	h := sha256.New()
	_ = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		h.Write([]byte(name + "\x00"))
		h.Write(data)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:12]
})

// StageCSS is the style sheet of the stage alone, for pictures that stand outside a page.
func StageCSS() string {
	data, _ := files.ReadFile("css/stage.css") // embedded: it is always there
	return string(data)
}
