package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/highwater-kafka/highwater/engine/cluster"
	"github.com/highwater-kafka/highwater/engine/journal"
	"github.com/highwater-kafka/highwater/engine/transcript"
	"github.com/highwater-kafka/highwater/engine/words"
	"github.com/highwater-kafka/highwater/scenarios"
	"github.com/highwater-kafka/highwater/web/catalog"
)

const usage = `highwater simulates an Apache Kafka cluster and shows it on a page.

  highwater [serve] [-addr HOST:PORT] [-scenarios DIR]   serve the pages
  highwater list                                         name the scenarios
  highwater run FILE|ID [-seed N] [-set KEY=VALUE]... [-until 30s] [-format text|ndjson|transcript]
  highwater check [FILE|ID...]                           check expectations and invariants
  highwater health [-addr HOST:PORT]                     ask a running server
`

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a check failed, a server is not healthy
	exitBad    = 2 // bad input: one sentence on stderr, nothing else
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	commands := map[string]func(context.Context, []string, io.Writer) (int, error){
		"serve": serve, "list": list, "run": simulate, "check": check, "health": health,
		"help": func(_ context.Context, _ []string, w io.Writer) (int, error) {
			_, err := io.WriteString(w, usage)
			return exitOK, err
		},
	}
	command, ok := commands[name]
	if !ok {
		fmt.Fprintf(stderr, "highwater: there is no command %q; there are serve, list, run, check, health and help\n", name)
		return exitBad
	}
	code, err := command(ctx, args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "highwater: %v\n", err)
		return max(code, exitFailed)
	}
	return code
}

// flags makes a flag set that reports errors instead of printing them.
func flags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	return fs
}

func list(_ context.Context, _ []string, stdout io.Writer) (int, error) {
	for _, s := range scenarios.Builtin() {
		fmt.Fprintf(stdout, "%-18s %s: %s\n", s.ID, s.Title, s.Summary)
	}
	return exitOK, nil
}

// load finds a built-in scenario by id, or reads a file.
func load(name string) (*scenarios.Scenario, error) {
	if s := scenarios.Lookup(name); s != nil {
		return s, nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		var ids []string
		for _, s := range scenarios.Builtin() {
			ids = append(ids, s.ID)
		}
		return nil, fmt.Errorf("%q is neither a file nor a scenario; the scenarios are %s", name, strings.Join(ids, ", "))
	}
	s, problems := scenarios.Load(name, src)
	return s, problems.Err()
}

// settings collects -set KEY=VALUE.
type settings map[string]string

func (s settings) String() string { return "" }

func (s settings) Set(v string) error {
	key, val, ok := strings.Cut(v, "=")
	if !ok {
		return fmt.Errorf("%q is not KEY=VALUE", v)
	}
	s[key] = val
	return nil
}

func simulate(_ context.Context, args []string, stdout io.Writer) (int, error) {
	fs := flags("run")
	set := settings{}
	seed := fs.Uint64("seed", 0, "")
	until := fs.Duration("until", 0, "")
	format := fs.String("format", "text", "")
	fs.Var(set, "set", "")
	var names []string
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return exitBad, err
		}
		if args = fs.Args(); len(args) > 0 {
			names, args = append(names, args[0]), args[1:]
		}
	}
	if len(names) != 1 {
		return exitBad, errors.New("run takes one scenario: highwater run producer-write")
	}
	sc, err := load(names[0])
	if err != nil {
		return exitBad, err
	}
	if *seed != 0 {
		set["seed"] = fmt.Sprint(*seed)
	}
	if len(set) > 0 {
		if sc, err = scenarios.Apply(sc, set); err != nil {
			return exitBad, err
		}
	}
	cl := sc.Cluster
	if *until > 0 {
		cl.End = journal.Time(*until / time.Microsecond)
	}
	res, err := cluster.Run(&cl)
	if err != nil {
		return exitBad, err
	}
	return exitOK, write(stdout, *format, sc, res)
}

func write(w io.Writer, format string, sc *scenarios.Scenario, res *cluster.Result) error {
	switch format {
	case "transcript":
		_, err := io.WriteString(w, transcript.Text(sc.ID, transcript.Of(res)))
		return err
	case "text", "ndjson":
	default:
		return fmt.Errorf("there is no format %q; there are text, ndjson and transcript", format)
	}
	p := words.New(res.Journal)
	for i := range res.Journal.Events {
		e := &res.Journal.Events[i]
		if format == "text" {
			if !e.Chatter {
				fmt.Fprintf(w, "%6d %12s  %s\n", e.N, e.T, p.Say(e))
			}
			continue
		}
		line, err := journal.Marshal(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// check runs expectations and invariants, in the shipped settings and under each
// variant: one line each, and the broken ones below.
func check(_ context.Context, names []string, stdout io.Writer) (int, error) {
	var all []*scenarios.Scenario
	if len(names) == 0 {
		all = scenarios.Builtin()
	}
	for _, name := range names {
		s, err := load(name)
		if err != nil {
			return exitBad, err
		}
		all = append(all, s)
	}
	code := exitOK
	for _, s := range all {
		ok, err := checkOne(s, "", stdout)
		if err != nil {
			return exitBad, err
		}
		if !ok {
			code = exitFailed
		}
		for _, v := range s.Variants {
			changed, err := scenarios.Apply(s, v.Set)
			if err != nil {
				return exitBad, err
			}
			ok, err := checkOne(changed, fmt.Sprint(" ", v.Set), stdout)
			if err != nil {
				return exitBad, err
			}
			if !ok {
				code = exitFailed
			}
		}
	}
	return code, nil
}

func checkOne(s *scenarios.Scenario, variant string, w io.Writer) (bool, error) {
	o, err := catalog.Simulate(s)
	if err != nil {
		return false, err
	}
	word := "ok  "
	if !o.OK() {
		word = "FAIL"
	}
	fmt.Fprintf(w, "%s %s%s: %s, %s, %s\n", word, s.ID, variant, count(len(o.Result.Journal.Events), "event"),
		count(len(o.Verdict.Expect), "expectation"), count(len(o.Invariants), "invariant"))
	for _, e := range o.Verdict.Expect {
		if !e.OK {
			fmt.Fprintf(w, "     at event %d: %s (%s)\n", e.N, e.Say, e.Why)
		}
	}
	for _, i := range o.Invariants {
		if i.Broken != nil {
			fmt.Fprintf(w, "     at event %d: %s: %s\n", i.Broken.N, i.Name, i.Broken.Why)
		}
	}
	return o.OK(), nil
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
