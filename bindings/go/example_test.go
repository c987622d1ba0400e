package netlib_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"netlib.example/netlib"
)

// Downloads a URL with the recommended retry settings.
func Example() {
	tls, err := netlib.NewTLSContext(nil)
	if err != nil {
		log.Fatal(netlib.Report(err))
	}
	client := &http.Client{
		Transport:     netlib.NewTransport(tls, nil, http.ProxyFromEnvironment),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	limit, done, err := netlib.LimitFromContext(ctx)
	if err != nil {
		log.Fatal(netlib.Report(err))
	}
	defer done()
	url, err := netlib.ParseURLStrict("https://example.com/")
	if err != nil {
		log.Fatal(netlib.Report(err))
	}
	attempts, err := netlib.NewAttempts(netlib.RetryRecommended(), "GET", url, nil, false, limit)
	for again := err == nil; again; {
		again, err = attempts.Do(ctx, client, nil, func(response *http.Response) error {
			_, err := io.Copy(os.Stdout, response.Body)
			return err
		})
	}
	if err != nil {
		log.Fatal(netlib.Report(err))
	}
}

func ExampleParseURL() {
	url, err := netlib.ParseURL("HTTPS://Example.com:8443/a b?q=1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(url)
	fmt.Println(url.Host(), url.Port(), url.Path(), url.Query())
	// Output:
	// https://example.com:8443/a%20b?q=1
	// example.com 8443 /a%20b q=1
}

func ExampleURL_Resolve() {
	base, err := netlib.ParseURL("https://example.com/a/b?q")
	if err != nil {
		log.Fatal(err)
	}
	url, err := base.Resolve("../c")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(url)
	// Output: https://example.com/c
}

// A status is an error, and Report shows the causes of an error and the advice.
func ExampleReport() {
	_, err := netlib.NewTLSContext(netlib.NewTLSOptions().AddCAFile("/missing/ca.pem"))
	fmt.Println(errors.Is(err, netlib.StatusIO))
	fmt.Println(netlib.Report(err))
	// Output:
	// true
	// TLSOptions.AddCAFile: cannot read CA file /missing/ca.pem: No such file or directory
}

// The retry policy decides without sending anything.
func ExampleRetry_Decide() {
	retry, err := netlib.NewRetry(netlib.NewRetryOptionsRecommended())
	if err != nil {
		log.Fatal(err)
	}
	url, err := netlib.ParseURL("https://example.com/")
	if err != nil {
		log.Fatal(err)
	}
	response, _, _, err := netlib.ResponseParse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n", nil)
	if err != nil {
		log.Fatal(err)
	}
	decision, err := retry.Decide("GET", url, response, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(decision.Action() == netlib.ActionRetry, decision.Delay())
	// Output: true 7
}

// A callback that returns an error ends the call, which returns the error.
func ExampleConnectOptions_ResolveCallback() {
	options := netlib.NewConnectOptions().
		ResolveCallback(func(host string, port int32, secondsLeft float64, addresses *netlib.Addresses) error {
			return fmt.Errorf("%s is not in the table", host)
		})
	_, err := options.DialContext(context.Background(), "tcp", "a.example:80")
	fmt.Println(err)
	// Output: a.example is not in the table
}

// Reads a chunked body from received bytes.
func ExampleBodyDecoder() {
	received := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	response, head, _, err := netlib.ResponseParse("GET", received, nil)
	if err != nil {
		log.Fatal(err)
	}
	decoder, err := netlib.NewBodyDecoder(response)
	if err != nil {
		log.Fatal(err)
	}
	var body strings.Builder
	for rest := []byte(received[head:]); ; {
		consumed, piece, status, err := decoder.Decode(rest)
		if err != nil {
			log.Fatal(err)
		}
		body.Write(piece)
		rest = rest[consumed:]
		if status == netlib.StatusEndOfStream {
			break
		}
	}
	fmt.Println(body.String())
	// Output: hello
}
