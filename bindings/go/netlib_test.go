package netlib

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/cgo"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func certificates(t testing.TB) string {
	directory := os.Getenv("NETLIB_CERTIFICATES")
	if directory == "" {
		t.Skip("NETLIB_CERTIFICATES is not set")
	}
	return directory
}

// serve starts an HTTPS server whose certificate is valid for localhost.
func serve(t testing.TB, handler http.HandlerFunc) *httptest.Server {
	pair, err := tls.LoadX509KeyPair(certificates(t)+"/server.pem", certificates(t)+"/server.key")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func client(t testing.TB, options *TLSOptions) *http.Client {
	context, err := NewTLSContext(options)
	if err != nil {
		t.Fatal(err)
	}
	transport := NewTransport(context, nil, nil)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func trusted(t testing.TB) *TLSOptions {
	return NewTLSOptions().AddCAFile(certificates(t) + "/ca.pem")
}

func local(server *httptest.Server) string {
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// peer starts the server side of a connection, and returns the connection for the client.
func peer(t testing.TB, version uint16, serve func(*tls.Conn)) net.Conn {
	pair, err := tls.LoadX509KeyPair(certificates(t)+"/server.pem", certificates(t)+"/server.key")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	near, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	go func() {
		defer far.Close()
		serve(tls.Server(far, &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: version}))
	}()
	return near
}

// connect makes the handshake.
func connect(t testing.TB, raw net.Conn) *Conn {
	context_, err := NewTLSContext(trusted(t))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := Client(raw, context_, "localhost")
	if err == nil {
		err = conn.HandshakeContext(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// nextCallbacks returns the number that the next callbacks get.
func nextCallbacks() cgo.Handle {
	last := cgo.NewHandle(0)
	last.Delete()
	return last + 1
}

// isHeld returns false after netlib has released the callbacks with the number.
func isHeld(number cgo.Handle) (isValid bool) {
	defer func() { isValid = recover() == nil }()
	number.Value()
	return
}

func TestATransportSendsLargeBodiesInBothDirections(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})
	http := client(t, trusted(t))
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for i := 0; i < 3; i++ {
		response, err := http.Post(local(server), "text/plain", bytes.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		received, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !bytes.Equal(received, sent) {
			t.Fatal(len(received), err)
		}
	}
}

// post sends a request with a body until it has a result, and returns the body of the response.
func post(t testing.TB, url string, body func() (io.Reader, error)) string {
	parsed, err := ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	headers, err := NewHeaders([]HeaderField{{Name: "Content-Type", Value: "text/plain"}})
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := NewAttempts(RetryRecommended(), "POST", parsed, headers, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var answer []byte
	for again := true; again; {
		again, err = attempts.Do(context.Background(), client, body, func(response *http.Response) (err error) {
			answer, err = io.ReadAll(response.Body)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return string(answer)
}

func TestABodyThatARedirectDropsIsNotSent(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("Content-Type")+" "+string(body))
	})
	other := httptest.NewServer(echo)
	defer other.Close()
	for _, row := range []struct {
		status int
		answer string
	}{
		{http.StatusSeeOther, "GET  "},
		{http.StatusFound, "GET  "},
		{http.StatusTemporaryRedirect, "POST text/plain a secret"},
	} {
		server := httptest.NewServer(http.RedirectHandler(other.URL, row.status))
		answer := post(t, server.URL, func() (io.Reader, error) { return strings.NewReader("a secret"), nil })
		server.Close()
		if answer != row.answer {
			t.Errorf("%d: the other server got %q, not %q", row.status, answer, row.answer)
		}
	}
}

func TestAnErrorOfGoEndsInTheRetries(t *testing.T) {
	url, err := ParseURL("http://localhost/")
	if err != nil {
		t.Fatal(err)
	}
	attempts, err := NewAttempts(RetryRecommended(), "POST", url, nil, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	mine := errors.New("mine")
	for _, row := range []struct {
		failure error
		status  Status
		err     error
	}{
		{&net.OpError{Op: "dial", Err: mine}, StatusSendAgain, nil},
		{fmt.Errorf("outer: %w", StatusConnectFailed), 0, StatusApplicationError},
		{mine, 0, mine}, // after the end, each error is returned
	} {
		status, err := attempts.Next(nil, row.failure)
		if status != row.status || !errors.Is(err, row.err) {
			t.Errorf("%v: %v, %v", row.failure, status, err)
		}
	}
}

func TestALimitOfAContextCanBeStoppedTwice(t *testing.T) {
	limit, stop, err := LimitFromContext(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	stop()
	limit.Close()
}

func TestAnUntrustedServerIsRefusedWithAdvice(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := client(t, NewTLSOptions().AddCAFile(certificates(t)+"/other-ca.pem")).Get(local(server))
	if !errors.Is(err, StatusCertificateVerify) || !strings.Contains(Report(err), "\n  advice: ") {
		t.Fatal(Report(err))
	}
}

func TestAnErrorIsTheErrorOfTheStandardLibraryThatMeansTheSame(t *testing.T) {
	for _, row := range []struct {
		status                  Status
		isDeadline, isCancelled bool
	}{
		{StatusReadTimeout, true, false},
		{StatusDeadlineExceeded, true, false},
		{StatusCancelled, false, true},
		{StatusProtocol, false, false},
	} {
		failure, err := NewError(row.status, "failed", nil)
		if err != nil {
			t.Fatal(err)
		}
		for target, expected := range map[error]bool{
			context.DeadlineExceeded: row.isDeadline,
			os.ErrDeadlineExceeded:   row.isDeadline,
			context.Canceled:         row.isCancelled,
			row.status:               true,
			StatusOutOfMemory:        false,
		} {
			if errors.Is(failure, target) != expected {
				t.Fatal(row, target)
			}
		}
	}
}

func TestAConnectionWithoutCloseNotifyIsTruncated(t *testing.T) {
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = server.Write([]byte("hello")) }))
	received, err := io.ReadAll(conn)
	if string(received) != "hello" || !errors.Is(err, StatusTLSTruncated) {
		t.Fatalf("%q %v", received, err)
	}
	conn.Close()
}

func TestAPanicOfACallbackContinuesInTheOuterCall(t *testing.T) {
	number := nextCallbacks()
	options := NewConnectOptions().AddressCallback(func([]byte, AddressClass) (Verdict, error) { panic("boom") })
	defer func() {
		if value := recover(); value != "boom" {
			t.Fatal(value)
		}
		// C has returned, instead of being skipped by the panic: the call no longer uses the options.
		options.Close()
		if isHeld(number) {
			t.Fatal("the callback is held")
		}
	}()
	_, err := CreateConnection("127.0.0.1", 9, options, nil)
	t.Fatal("not reached", err)
}

func TestAbsentTextIsNotEmptyText(t *testing.T) {
	for _, row := range []struct {
		url  string
		has  bool
		text string
	}{{"http://a/", false, ""}, {"http://a/?", true, ""}, {"http://a/?b", true, "b"}} {
		url, err := ParseURL(row.url)
		if err != nil || url.HasQuery() != row.has || url.Query() != row.text {
			t.Fatal(row, url.HasQuery(), url.Query(), err)
		}
	}
}

func TestATextWithANulIsRefusedWhenTheOptionsAreUsed(t *testing.T) {
	_, err := NewTLSContext(NewTLSOptions().AddCAFile("ca\x00.pem").Clone())
	if !errors.Is(err, StatusInvalidArgument) || err.Error() != "path has a NUL at byte 2" {
		t.Fatal(err)
	}
}

func TestAClosedObjectPanics(t *testing.T) {
	url, _ := ParseURL("http://a/")
	url.Close()
	url.Close()
	defer func() {
		if value := recover(); value != "netlib: the URL is closed" {
			t.Fatal(value)
		}
	}()
	url.Host()
}

func TestAnObjectOfAClosedLenderPanics(t *testing.T) {
	given, _ := NewError(StatusProtocol, "the cause", nil)
	failure, _ := NewError(StatusMaxRetry, "the failure", NewErrorOptions().Cause(given))
	cause := failure.Cause(0)
	if cause.Message() != "the cause" {
		t.Fatal(cause.Message())
	}
	failure.Close()
	defer func() {
		if value := recover(); value != "netlib: the Error is closed" {
			t.Fatal(value)
		}
	}()
	t.Fatal(cause.Message())
}

func TestALimitThatIsClosedDuringACallLivesUntilTheCallEnds(t *testing.T) {
	limit, _ := NewLimit(30, nil)
	clone := limit.Clone()
	receiver, sender, _ := os.Pipe()
	defer receiver.Close()
	defer sender.Close()
	ended := make(chan error)
	go func() {
		_, err := WaitForRead(int(receiver.Fd()), 30, limit)
		ended <- err
	}()
	for atomic.LoadInt64(&limit.state) == 0 {
		time.Sleep(time.Millisecond)
	}
	limit.Close()
	clone.Cancel()
	if err := <-ended; !errors.Is(err, StatusCancelled) {
		t.Fatal(err)
	}
	if !limit.isClosed() {
		t.Fatal("the limit is open")
	}
}

func TestAnObjectThatItsCallbackClosesIsFreedAfterTheCall(t *testing.T) {
	timeout, err := NewTimeout(10, TimeoutNone(), TimeoutNone())
	if err != nil {
		t.Fatal(err)
	}
	number, isHeldInTheCall := nextCallbacks(), false
	if err := timeout.SetClock(func() (float64, error) {
		timeout.Close()
		isHeldInTheCall = isHeld(number)
		return 1, nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := timeout.StartConnect(); err != nil || !isHeldInTheCall || isHeld(number) {
		t.Fatal(err, isHeldInTheCall, isHeld(number))
	}
}

func TestTheLastUseOfAClosedObjectFreesIt(t *testing.T) {
	for _, row := range []struct {
		isBorrowed bool
		steps      string // b: begin, e: end, c: close
		results    string // 1: true
	}{
		{false, "cc", "10"},
		{false, "cbc", "100"},
		{false, "bec", "101"},
		{false, "bce", "101"},
		{false, "bbceebc", "1100100"},
		{true, "cc", "00"},
		{true, "bce", "100"},
	} {
		object, results := usage{isBorrowed: row.isBorrowed}, ""
		for _, step := range row.steps {
			result := map[rune]func() bool{'b': object.begin, 'e': object.end, 'c': object.close}[step]()
			results += map[bool]string{false: "0", true: "1"}[result]
		}
		if results != row.results {
			t.Fatal(row, results)
		}
	}
}

func TestAnObjectThatACallbackKeepsPanicsLater(t *testing.T) {
	var kept *Addresses
	options := NewConnectOptions().ResolveCallback(func(_ string, _ int32, _ float64, addresses *Addresses) error {
		kept = addresses
		return errors.New("no address")
	})
	_, _ = CreateConnection("a.test", 9, options, nil)
	defer func() {
		if value := recover(); value != "netlib: the Addresses is closed" {
			t.Fatal(value)
		}
	}()
	t.Fatal(kept.Count())
}

func TestACallbackReturnsAResultAndTwoNumbers(t *testing.T) {
	words := map[string]uint64{}
	store, err := NewStore(func(key string, expected, desired uint64, _, _ float64) (uint64, float64, Swap, error) {
		if word := words[key]; word != expected {
			return word, 100, SwapChanged, nil
		}
		words[key] = desired
		return 0, 100, SwapSwapped, nil
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	rate, err := NewRate(NewRateOptions().Limit(1, 2).Store(store, UnavailableClosed))
	if err != nil {
		t.Fatal(err)
	}
	for _, expected := range []Status{StatusOK, StatusOK, StatusRateLimited} {
		if _, status, err := rate.Take("a\x00b", 1); status != expected || err != nil {
			t.Fatal(status, err)
		}
	}
	if words["rate:a\x00b"] == 0 {
		t.Fatal(words)
	}
}

func BenchmarkParseURLWithFiveGetters(b *testing.B) {
	for i := 0; i < b.N; i++ {
		url, _ := ParseURL("https://user@example.com:8443/a/path?query=1")
		_, _, _, _, _ = url.Scheme(), url.Host(), url.Port(), url.Path(), url.Query()
		url.Close()
	}
}
