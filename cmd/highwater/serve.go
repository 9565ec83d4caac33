package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/highwater-kafka/highwater/web"
	"github.com/highwater-kafka/highwater/web/catalog"
)

const defaultAddr = "127.0.0.1:8080"

func address() string { return cmp.Or(os.Getenv("HIGHWATER_ADDR"), defaultAddr) }

// serve runs the pages until the context ends.
func serve(ctx context.Context, args []string, stdout io.Writer) (int, error) {
	fs := flags("serve")
	addr := fs.String("addr", address(), "")
	dir := fs.String("scenarios", "", "")
	if err := fs.Parse(args); err != nil {
		return exitBad, err
	}
	if fs.NArg() > 0 {
		return exitBad, fmt.Errorf("serve takes no argument %q", fs.Arg(0))
	}
	if *dir != "" {
		if info, err := os.Stat(*dir); err != nil || !info.IsDir() {
			return exitBad, fmt.Errorf("-scenarios: %s is not a directory", *dir)
		}
	}
	l, err := web.Listen(*addr)
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(stdout, "Highwater is at http://%s\n", shown(l.Addr()))
	return exitOK, web.New(catalog.New(*dir), web.DefaultLimits()).Serve(ctx, l)
}

// shown is an address that a browser on this machine can open.
func shown(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// health asks a running server.
func health(ctx context.Context, args []string, stdout io.Writer) (int, error) {
	fs := flags("health")
	addr := fs.String("addr", address(), "")
	if err := fs.Parse(args); err != nil {
		return exitBad, err
	}
	host, port, err := net.SplitHostPort(*addr)
	if err != nil {
		return exitBad, fmt.Errorf("-addr: %q is not HOST:PORT", *addr)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return exitBad, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return exitFailed, errors.New("no server answers at " + net.JoinHostPort(host, port))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return exitFailed, fmt.Errorf("the server answers %s", resp.Status)
	}
	fmt.Fprintln(stdout, "healthy")
	return exitOK, nil
}
