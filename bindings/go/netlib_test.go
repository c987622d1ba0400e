package netlib

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
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
	transport := &http.Transport{DialTLSContext: DialTLS(context, nil)}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func trusted(t testing.TB) *TLSOptions {
	return NewTLSOptions().AddCAFile(certificates(t) + "/ca.pem")
}

func local(server *httptest.Server) string {
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
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

func TestAnUntrustedServerIsRefusedWithAdvice(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := client(t, NewTLSOptions().AddCAFile(certificates(t)+"/other-ca.pem")).Get(local(server))
	if !errors.Is(err, StatusCertificateVerify) || !strings.Contains(Report(err), "\n  advice: ") {
		t.Fatal(Report(err))
	}
}

func TestADeadlineEndsARead(t *testing.T) {
	server := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	request, _ := http.NewRequestWithContext(ctx, "GET", local(server), nil)
	_, err := client(t, trusted(t)).Do(request)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestAContextEndsAHandshakeWithASilentServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	context_, _ := NewTLSContext(trusted(t))
	ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer stop()
	_, err = DialTLS(context_, nil)(ctx, "tcp", strings.Replace(listener.Addr().String(), "127.0.0.1", "localhost", 1))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestCloseEndsAReadOfAnotherGoroutine(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	context_, _ := NewTLSContext(trusted(t))
	address := strings.TrimPrefix(local(server), "https://")
	conn, err := DialTLS(context_, nil)(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := conn.Read(make([]byte, 10))
		ended <- err
	}()
	_ = conn.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) && err != io.EOF {
		t.Fatal(err)
	}
}

func TestAConnectionWithoutCloseNotifyIsTruncated(t *testing.T) {
	pair, err := tls.LoadX509KeyPair(certificates(t)+"/server.pem", certificates(t)+"/server.key")
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	go func() {
		server := tls.Server(far, &tls.Config{Certificates: []tls.Certificate{pair}, MaxVersion: tls.VersionTLS12})
		_, _ = server.Write([]byte("hello"))
		far.Close()
	}()
	context_, _ := NewTLSContext(trusted(t))
	conn, err := Client(near, context_, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	received, err := io.ReadAll(conn)
	if string(received) != "hello" || !errors.Is(err, StatusTLSTruncated) {
		t.Fatalf("%q %v", received, err)
	}
	conn.Close()
}

func TestAPanicOfACallbackContinuesInTheOuterCall(t *testing.T) {
	defer func() {
		if value := recover(); value != "boom" {
			t.Fatal(value)
		}
	}()
	options := NewConnectOptions().AddressCallback(func([]byte, AddressClass) (Verdict, error) { panic("boom") })
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
	for _, expected := range []Status{StatusOk, StatusOk, StatusRateLimited} {
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
