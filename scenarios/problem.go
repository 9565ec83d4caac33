package scenarios

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing that is wrong with a scenario file.
type Problem struct {
	File    string
	Line    int // from 1; 0 where the problem has no place
	Column  int // from 1, in characters
	Message string
	Excerpt string // the line, and a caret under the place
}

func (p Problem) Error() string {
	s := p.Message
	switch {
	case p.Line > 0:
		s = fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, s)
	case p.File != "":
		s = p.File + ": " + s
	}
	if p.Excerpt != "" {
		s += "\n" + p.Excerpt
	}
	return s
}

// Problems is everything that is wrong with a file, in the order of its lines.
type Problems []Problem

func (ps Problems) Error() string {
	ss := make([]string, len(ps))
	for i, p := range ps {
		ss[i] = p.Error()
	}
	return strings.Join(ss, "\n")
}

// Err is ps as an error, nil where there is none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// pos is a place in a file.
type pos struct{ line, col int }

// maxProblems is how many problems are reported: a file that is none of ours
// would otherwise give one a line.
const maxProblems = 50

// reporter collects problems.
type reporter struct {
	file  string
	lines []string
	ps    Problems
}

func newReporter(file string, src []byte) *reporter {
	return &reporter{file: file, lines: strings.Split(string(src), "\n")}
}

func (r *reporter) at(p pos, format string, args ...any) {
	if len(r.ps) >= maxProblems {
		return
	}
	r.ps = append(r.ps, Problem{File: r.file, Line: p.line, Column: p.col, Message: fmt.Sprintf(format, args...), Excerpt: r.excerpt(p)})
}

// excerpt shows at most 100 characters of the line around the place.
func (r *reporter) excerpt(p pos) string {
	if p.line < 1 || p.line > len(r.lines) || p.col < 1 {
		return ""
	}
	line := []rune(strings.TrimRight(strings.ToValidUTF8(r.lines[p.line-1], "?"), "\r"))
	col := min(p.col-1, len(line))
	from := max(0, min(col-60, len(line)-100))
	to := min(len(line), from+100)
	clean := func(rs []rune) string {
		return strings.Map(func(c rune) rune {
			if c < ' ' || c == 0x7f {
				return ' '
			}
			return c
		}, string(rs))
	}
	return "  | " + clean(line[from:to]) + "\n  | " + strings.Repeat(" ", col-from) + "^"
}

func (r *reporter) sorted() Problems {
	sort.SliceStable(r.ps, func(i, j int) bool {
		a, b := r.ps[i], r.ps[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return r.ps
}
