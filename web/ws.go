package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/highwater-kafka/highwater/web/stage"
)

const (
	subprotocol = "highwater.v1"
	maxBatch    = 500
)

// pageMessage is what a page asks for.
type pageMessage struct {
	Op string `json:"op"`
	OpenRequest
	Layout string   `json:"layout"`
	From   int      `json:"from"`
	To     int      `json:"to"`
	Track  string   `json:"track"`
	Open   []string `json:"open"`
	Show   []string `json:"show"` // what a small stage shows, nothing for all

	seq int64  // of an open: a later one replaces it
	bad string // why it cannot be read
}

// session is one connection. One goroutine reads, so that a close is always
// seen; one answers, so that messages of two answers are never mixed.
type session struct {
	conn    *websocket.Conn
	cache   *cache
	lim     Limits
	sameOri bool
	opened  atomic.Int64 // number of opens read so far
	current *served
	request OpenRequest
}

// stream serves /ws. It sends what anybody may see, without cookies or secrets,
// so any origin may read it: sandboxed frames have the origin "null".
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true, CompressionMode: websocket.CompressionNoContextTakeover,
	})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	if conn.Subprotocol() != subprotocol {
		_ = conn.Close(websocket.StatusPolicyViolation, "use the subprotocol "+subprotocol)
		return
	}
	conn.SetReadLimit(s.Limits.Message)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() { // a server that goes down says so
		select {
		case <-s.down:
			_ = conn.Close(websocket.StatusGoingAway, "the server stops")
		case <-ctx.Done():
		}
	}()
	ses := &session{conn: conn, cache: s.cache, lim: s.Limits, sameOri: sameOrigin(r)}
	asks := make(chan pageMessage, 16)
	go func() {
		defer cancel()
		for m := range asks {
			if ses.answer(ctx, m) != nil {
				return
			}
		}
	}()
	ses.read(ctx, asks)
	close(asks)
}

// read hands on what the page asks until the connection ends.
func (s *session) read(ctx context.Context, asks chan<- pageMessage) {
	for {
		kind, data, err := s.conn.Read(ctx)
		if err != nil {
			return
		}
		var m pageMessage
		if kind != websocket.MessageText {
			m = pageMessage{bad: "The message is not text."}
		} else if err := json.Unmarshal(data, &m); err != nil {
			m = pageMessage{bad: "The message cannot be read: " + unreadable(err) + "."}
		}
		if m.Op == "open" {
			m.seq = s.opened.Add(1)
		}
		select {
		case asks <- m:
		case <-ctx.Done():
			return
		default:
			_ = s.conn.Close(websocket.StatusPolicyViolation, "too many requests at once")
			return
		}
	}
}

// unreadable says what is wrong with a message, without Go's words for it.
func unreadable(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return wrong.Field + " cannot be " + wrong.Value
	}
	return "it is not JSON"
}

func (s *session) answer(ctx context.Context, m pageMessage) error {
	switch {
	case m.bad != "":
		return s.refuse(ctx, &Problem{Code: BadRequest, Message: m.bad})
	case m.Op == "open":
		return s.open(ctx, m)
	case m.Op == "events" && m.Track == "chatter" && s.current != nil:
		return s.current.chatter(m.From, m.To, func(b []byte) error { return s.send(ctx, b) })
	case m.Op == "stage" && s.current != nil:
		return s.redraw(ctx, m)
	case m.Op == "events" || m.Op == "stage":
		return s.refuse(ctx, &Problem{Code: BadRequest, Message: "Open a run first."})
	}
	return s.refuse(ctx, &Problem{Code: BadRequest, Message: "The message is not one of open, events and stage."})
}

func (s *session) open(ctx context.Context, m pageMessage) error {
	if m.Text != "" && !s.sameOri {
		return s.refuse(ctx, &Problem{Code: Forbidden, Message: "Scenario text is taken only from pages of this server."})
	}
	if s.cache.local(m.Scenario) && !s.sameOri {
		return s.refuse(ctx, &Problem{Code: UnknownScenario, Message: "There is no scenario " + m.Scenario + "."})
	}
	run, problem := s.cache.get(ctx, m.OpenRequest)
	if problem != nil {
		return s.refuse(ctx, problem)
	}
	s.current, s.request = run, m.OpenRequest
	head := run.head
	layout := stage.ParseLayout(m.Layout)
	if layout != stage.Wide || len(m.Open) > 0 || len(m.Show) > 0 || m.Text != "" || len(m.Set) > 0 || len(m.Actions) > 2 {
		svg, err := run.draw(only(stageSpec(run.run, layout, m.Open), m.Show), 1)
		if err != nil {
			return err
		}
		head.Stage = svg
	}
	data, err := marshal(head)
	if err != nil {
		return err
	}
	if err := s.send(ctx, data); err != nil {
		return err
	}
	return s.events(ctx, m, run)
}

// events sends the main events after m.From. Batches grow, so that the first
// picture moves soon; each is sent when the one before has left, so a slow
// reader waits alone.
func (s *session) events(ctx context.Context, m pageMessage, run *served) error {
	size := 20
	for i := run.after(m.From); i < len(run.main); {
		if s.opened.Load() != m.seq {
			return nil // a later open replaces this one
		}
		to := min(i+size, len(run.main))
		if err := s.send(ctx, run.batch(i, to)); err != nil {
			return err
		}
		i, size = to, min(size*5, maxBatch)
	}
	return s.send(ctx, run.end)
}

func (s *session) redraw(ctx context.Context, m pageMessage) error {
	layout := stage.ParseLayout(m.Layout)
	svg, err := s.current.draw(only(stageSpec(s.current.run, layout, m.Open), m.Show), 1)
	if err != nil {
		return err
	}
	data, err := marshal(struct {
		Op     string `json:"op"`
		Layout string `json:"layout"`
		Stage  string `json:"stage"`
	}{"stage", string(layout), svg})
	if err != nil {
		return err
	}
	return s.send(ctx, data)
}

func (s *session) refuse(ctx context.Context, p *Problem) error {
	data, err := marshal(errorFrame{"error", p})
	if err != nil {
		return err
	}
	return s.send(ctx, data)
}

// send writes one message. A reader that takes nothing for the time-out is
// closed; it may come back with the number of its last event.
func (s *session) send(ctx context.Context, data []byte) error {
	wctx, cancel := context.WithTimeout(ctx, s.lim.WriteTimeout)
	defer cancel()
	err := s.conn.Write(wctx, websocket.MessageText, data)
	if errors.Is(err, context.DeadlineExceeded) {
		_ = s.conn.Close(websocket.StatusPolicyViolation, "nothing was read for "+s.lim.WriteTimeout.Round(time.Second).String())
	}
	return err
}

// sameOrigin says whether a request comes from a page of this server, or from
// a program, which sends no origin. The origin "null" is never the same.
func sameOrigin(r *http.Request) bool {
	o := r.Header.Get("Origin")
	if o == "" {
		return true
	}
	u, err := url.Parse(o)
	return err == nil && u.Host != "" && u.Host == r.Host
}

// local says whether a scenario is a user's own file.
func (c *cache) local(id string) bool {
	for _, card := range c.lib.Menu() {
		if card.ID == id {
			return card.Local
		}
	}
	return false
}
