package web

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// cache keeps runs that were asked for, so that a classroom that opens the same
// link computes once. Only computing counts against the rate.
type cache struct {
	lib  Library
	lim  Limits
	room chan struct{} // runs that may be computed at once

	mu      sync.Mutex // guards what follows
	runs    map[[32]byte]*entry
	order   [][32]byte // least recently used first
	version string
	tokens  float64
	filled  time.Time
}

// entry is a run that is there or being computed; done is closed when it is.
type entry struct {
	done    chan struct{}
	served  *served
	problem *Problem
}

func newCache(lib Library, lim Limits) *cache {
	return &cache{
		lib: lib, lim: lim, room: make(chan struct{}, lim.Parallel), runs: map[[32]byte]*entry{},
		version: lib.Version(), tokens: float64(lim.RunsPerSecond), filled: time.Now(),
	}
}

// get returns a run, from the cache or computed.
func (c *cache) get(ctx context.Context, req OpenRequest) (*served, *Problem) {
	key, err := requestKey(req)
	if err != nil {
		return nil, &Problem{Code: BadRequest, Message: "The request cannot be read."}
	}
	e, mine := c.claim(key)
	if e == nil {
		return nil, &Problem{Code: TooBusy, Message: "Too many new runs at once. Try again in a second."}
	}
	if mine {
		// Others may wait for this run, so it outlives the one who asked first.
		go c.compute(context.WithoutCancel(ctx), key, e, req)
	}
	select {
	case <-e.done:
		return e.served, e.problem
	case <-ctx.Done():
		return nil, &Problem{Code: TooBusy, Message: "The run was not ready in time."}
	}
}

func (c *cache) compute(ctx context.Context, key [32]byte, e *entry, req OpenRequest) {
	c.room <- struct{}{}
	defer func() {
		if v := recover(); v != nil {
			e.problem = &Problem{Code: BadScenario, Message: "The simulation stopped on an error of its own."}
		}
		<-c.room
		close(e.done)
		if e.problem != nil {
			c.drop(key, e)
		}
	}()
	run, problem := c.lib.Open(ctx, req)
	if problem != nil {
		e.problem = problem
		return
	}
	e.served, e.problem = serve(run, c.lim.Events)
}

// claim returns the entry of a key, and whether the caller has to compute it;
// nil where the rate allows no further run.
func (c *cache) claim(key [32]byte) (*entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.lib.Version(); v != c.version {
		clear(c.runs)
		c.order, c.version = nil, v
	}
	if e, ok := c.runs[key]; ok {
		c.touch(key)
		return e, false
	}
	now := time.Now()
	rate := float64(c.lim.RunsPerSecond)
	c.tokens = min(rate, c.tokens+rate*now.Sub(c.filled).Seconds())
	c.filled = now
	if c.tokens < 1 {
		return nil, false
	}
	c.tokens--
	e := &entry{done: make(chan struct{})}
	c.runs[key] = e
	c.order = append(c.order, key)
	if len(c.order) > c.lim.CachedRuns {
		delete(c.runs, c.order[0])
		c.order = c.order[1:]
	}
	return e, true
}

func (c *cache) touch(key [32]byte) {
	for i, k := range c.order {
		if k == key {
			c.order = append(append(c.order[:i:i], c.order[i+1:]...), key)
			return
		}
	}
}

// drop forgets a run that failed, unless its place was taken since.
func (c *cache) drop(key [32]byte, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[key] != e {
		return
	}
	delete(c.runs, key)
	for i, k := range c.order {
		if k == key {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			return
		}
	}
}

// requestKey is the same for requests that name the same run: maps are written sorted.
func requestKey(r OpenRequest) ([32]byte, error) {
	if len(r.Actions) > 0 {
		var v any
		if err := json.Unmarshal(r.Actions, &v); err != nil {
			return [32]byte{}, err
		}
		if list, ok := v.([]any); ok && len(list) == 0 {
			v = nil
		}
		r.Actions = nil
		if v != nil {
			r.Actions, _ = json.Marshal(v)
		}
	}
	data, err := json.Marshal(r)
	return sha256.Sum256(data), err
}
