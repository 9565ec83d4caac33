package scenarios

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

//go:embed *.yaml
var embedded embed.FS

// Builtin are the scenarios that ship: the first lessons in their order, then the
// others by id. They are read
// once and shared; a test keeps them free of problems.
var Builtin = sync.OnceValue(func() []*Scenario {
	scs, ps := builtin()
	if len(ps) > 0 {
		panic(ps.Error())
	}
	return scs
})

func builtin() ([]*Scenario, Problems) {
	var scs []*Scenario
	var all Problems
	entries, err := embedded.ReadDir(".")
	if err != nil {
		return nil, Problems{{Message: err.Error()}}
	}
	for _, e := range entries {
		src, err := embedded.ReadFile(e.Name())
		if err != nil {
			return nil, Problems{{File: e.Name(), Message: err.Error()}}
		}
		sc, ps := Load(e.Name(), src)
		all = append(all, ps...)
		if sc != nil {
			scs = append(scs, sc)
		}
	}
	sort.SliceStable(scs, func(i, j int) bool {
		a, b := scs[i], scs[j]
		if a.Lesson != b.Lesson {
			return b.Lesson == 0 || a.Lesson != 0 && a.Lesson < b.Lesson
		}
		return a.ID < b.ID
	})
	return scs, all
}

// Lookup is the built-in scenario with an id, nil for none.
func Lookup(id string) *Scenario {
	for _, sc := range Builtin() {
		if sc.ID == id {
			return sc
		}
	}
	return nil
}

// maxFiles is how many files of a directory are read.
const maxFiles = 200

// Library is a user's directory of scenarios. A file is read again when its size
// or time of change differs, and only on request, so that nothing has to be
// stopped. It may be used from many goroutines.
type Library struct {
	path  string
	mu    sync.Mutex
	files map[string]loaded
}

type loaded struct {
	size int64
	mod  time.Time
	sc   *Scenario
	ps   Problems
}

// Dir opens a directory; it need not exist yet.
func Dir(path string) *Library { return &Library{path: path, files: map[string]loaded{}} }

// Scenarios reads what changed and returns the directory's scenarios by file
// name, and what is wrong with its other files.
func (l *Library) Scenarios() ([]*Scenario, Problems) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries, err := os.ReadDir(l.path)
	if err != nil {
		return nil, Problems{{File: l.path, Message: "the directory cannot be read: " + reason(err)}}
	}
	now := map[string]loaded{}
	var scs []*Scenario
	var all Problems
	owner := map[string]string{}
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if e.IsDir() || ext != ".yaml" && ext != ".yml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(now) == maxFiles {
			all = append(all, Problem{File: l.path, Message: fmt.Sprintf("only the first %d files are read", maxFiles)})
			break
		}
		f := l.read(e.Name())
		now[e.Name()] = f
		all = append(all, f.ps...)
		if f.sc == nil {
			continue
		}
		if other := owner[f.sc.ID]; other != "" {
			all = append(all, Problem{File: f.sc.File, Message: fmt.Sprintf("the id %s is taken by %s", f.sc.ID, other)})
			continue
		}
		owner[f.sc.ID] = e.Name()
		scs = append(scs, f.sc)
	}
	l.files = now
	return scs, all
}

// Version changes when a file of the directory does: names, sizes and times.
func (l *Library) Version() string {
	entries, err := os.ReadDir(l.path)
	if err != nil {
		return reason(err)
	}
	var b strings.Builder
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

func (l *Library) read(name string) loaded {
	path := filepath.Join(l.path, name)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("it is no regular file")
	}
	if err != nil {
		return loaded{ps: Problems{{File: path, Message: "the file cannot be read: " + reason(err)}}}
	}
	if old, ok := l.files[name]; ok && old.size == info.Size() && old.mod.Equal(info.ModTime()) && (old.sc != nil || len(old.ps) > 0) {
		return old
	}
	src, err := readLimited(path)
	if err != nil {
		return loaded{ps: Problems{{File: path, Message: "the file cannot be read: " + reason(err)}}}
	}
	sc, ps := Load(path, src)
	return loaded{info.Size(), info.ModTime(), sc, ps}
}

// readLimited reads one byte more than Load accepts, so that Load can refuse it.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	_, err = io.Copy(&b, io.LimitReader(f, maxBytes+1))
	return b.Bytes(), err
}

func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
