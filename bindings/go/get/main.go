// get downloads one URL with the recommended settings, and writes the response's body to standard output.
//
//	go run ./get https://example.com/
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"netlib.example/netlib"
)

func run(address string) error {
	tls, err := netlib.NewTLSContext(nil)
	if err != nil {
		return err
	}
	url, err := netlib.ParseURLStrict(address)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), 120*time.Second)
	defer stop()
	limit, done, err := netlib.LimitFromContext(ctx)
	if err != nil {
		return err
	}
	defer done()
	// Go's HTTP client sends the requests. netlib makes the TLS connections and decides about retries and redirects.
	client := &http.Client{
		Transport:     netlib.NewTransport(tls, nil, http.ProxyFromEnvironment),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	attempts, err := netlib.NewAttempts(netlib.RetryRecommended(), "GET", url, nil, false, limit)
	if err != nil {
		return err
	}
	for {
		again, err := attempts.Do(ctx, client, nil, func(response *http.Response) error {
			_, err := io.Copy(os.Stdout, response.Body)
			return err
		})
		if err != nil || !again {
			return err
		}
	}
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: get URL")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, netlib.Report(err))
		os.Exit(1)
	}
}
