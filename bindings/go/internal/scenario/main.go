// scenario runs the steps of bindings/scenario.md.
//
//	go run ./internal/scenario SERVER CERTIFICATES TAG
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"netlib.example/netlib"
)

var (
	server, certificates, tag string
	ports                     = map[string]string{}
	tls                       *netlib.TLSContext
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func address(port, path string) string {
	scheme := "https"
	if port == "http" || port == "mute" {
		scheme = "http"
	}
	return fmt.Sprintf("%s://localhost:%s%s?%s", scheme, ports[port], path, tag)
}

func context_(options *netlib.TLSOptions) *netlib.TLSContext {
	return must(netlib.NewTLSContext(options.AddCAFile(server + "/ca.pem")))
}

// request is one HTTP request of a step.
type request struct {
	method  string
	url     *netlib.URL
	headers *netlib.Headers
	body    *netlib.Body
	tls     *netlib.TLSContext
	options *netlib.ConnectOptions
	limit   *netlib.Limit
}

func get(text string) request {
	return request{method: "GET", url: must(netlib.ParseURL(text)), tls: tls}
}

// exchange connects, sends the request, and reads the response with its body.
func exchange(r request) (*netlib.Response, string, error) {
	if r.headers == nil {
		r.headers = must(netlib.NewHeaders([]netlib.HeaderField{{Name: "connection", Value: "close"}}))
	}
	made, err := netlib.NewRequest(r.method, r.url, r.headers, netlib.RequestFormOrigin)
	if err != nil {
		return nil, "", err
	}
	stream, _, err := netlib.StreamConnect(r.url, r.tls, r.options, r.limit)
	if err != nil {
		return nil, "", err
	}
	defer stream.Close()
	if _, _, err = stream.Write([]byte(made.ToWire())); err != nil {
		return nil, "", err
	}
	buffer := make([]byte, 16384)
	if r.body != nil {
		if err := netlib.RewindBody(r.body, 0); err != nil {
			return nil, "", err
		}
		for {
			n, status, err := r.body.Read(buffer)
			if err == nil && n > 0 {
				_, _, err = stream.Write(buffer[:n])
			}
			if err != nil {
				return nil, "", err
			}
			if status == netlib.StatusEndOfStream || n == 0 {
				break
			}
		}
	}
	response, _, err := stream.ReadResponse(r.method)
	if err != nil {
		return nil, "", err
	}
	decoder, err := netlib.NewBodyDecoder(response)
	if err != nil {
		return nil, "", err
	}
	var body strings.Builder
	for {
		n, status, err := stream.ReadBody(decoder, buffer)
		if err != nil {
			return nil, "", err
		}
		body.Write(buffer[:n])
		if status == netlib.StatusEndOfStream {
			return response, strings.TrimSuffix(body.String(), "\n"), nil
		}
	}
}

// downloaded is the result of a download.
type downloaded struct {
	status   int32
	attempts int
	waits    []string
	body     string
	url      *netlib.URL
}

func (d downloaded) String() string {
	first, _, _ := strings.Cut(d.body, "\n")
	return fmt.Sprintf("%d %d %s %s", d.status, d.attempts, d.slept(), first)
}

func (d downloaded) slept() string {
	if len(d.waits) == 0 {
		return "-"
	}
	return strings.Join(d.waits, ",")
}

func download(r request) (d downloaded, err error) {
	options := netlib.NewRetryOptionsRecommended().Sleep(func(seconds float64) (netlib.Outcome, error) {
		d.waits = append(d.waits, fmt.Sprintf("%.3f", seconds))
		return netlib.OutcomeDone, nil
	}).Random(func() (float64, error) { return 0.5, nil })
	attempts := must(netlib.NewAttempts(must(netlib.NewRetry(options)), r.method, r.url, r.headers, false, r.limit))
	for {
		d.attempts++
		r.method, r.url, r.headers = attempts.Method(), attempts.URL(), attempts.Headers()
		response, body, failure := exchange(r)
		status, err := attempts.Next(response, failure)
		if err != nil {
			return d, err
		}
		if status == netlib.StatusOK {
			d.status, d.body, d.url = response.Status(), body, attempts.URL()
			return d, nil
		}
	}
}

// describe returns the status, the number of causes, the message, and the advice up to its first colon.
func describe(err error) string {
	var found *netlib.Error
	if !errors.As(err, &found) {
		return fmt.Sprint(err)
	}
	advice, _, _ := strings.Cut(found.Advice(), ":")
	if advice == "" {
		advice = "-"
	}
	return fmt.Sprintf("%s %d %s|%s", netlib.StatusName(found.Status()), found.CauseCount(), found.Message(), advice)
}

func statusName(err error) string {
	var found *netlib.Error
	if errors.As(err, &found) {
		return netlib.StatusName(found.Status())
	}
	return fmt.Sprint(err)
}

func errorOf[T any](_ T, err error) error { return err }

func failedExchange(r request) error {
	_, _, err := exchange(r)
	return err
}

func answer(r request) string {
	response, body, err := exchange(r)
	if err != nil {
		return describe(err)
	}
	return fmt.Sprintf("%d %s", response.Status(), body)
}

func downloadLine(r request) string {
	d, err := download(r)
	if err != nil {
		return describe(err)
	}
	return d.String()
}

func failedDownload(path string) string {
	d, err := download(get(address("https", path)))
	var found *netlib.Error
	if !errors.As(err, &found) {
		return fmt.Sprint(err)
	}
	messages := []string{found.Message()}
	for at := 0; at < found.CauseCount(); at++ {
		messages = append(messages, found.Cause(at).Message())
	}
	return fmt.Sprintf("%s %d %s %s", netlib.StatusName(found.Status()), d.attempts, d.slept(), strings.Join(messages, "|"))
}

func handshake(port string, options *netlib.TLSOptions) error {
	stream, _, err := netlib.StreamConnect(must(netlib.ParseURL(address(port, "/"))), context_(options), nil, nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = stream.Handshake()
	return err
}

func parts(url *netlib.URL) string {
	return strings.Join([]string{url.Scheme(), url.Auth(), url.Host(), strconv.Itoa(int(url.Port())), url.Path(),
		url.Query(), url.Fragment(), url.String()}, "|")
}

type step struct {
	name string
	run  func() string
}

var steps = []step{
	{"version", netlib.LibraryVersion},
	{"version-refused", func() string {
		if err := netlib.CheckVersion("0.0"); strings.Contains(fmt.Sprint(err), "0.0") && strings.Contains(fmt.Sprint(err), netlib.LibraryVersion()) {
			return "refused"
		}
		return "accepted"
	}},
	{"url-parse", func() string { return parts(must(netlib.ParseURL("HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f"))) }},
	{"url-resolve", func() string {
		base, found := must(netlib.ParseURL("http://a/b/c/d;p?q")), []string{}
		for _, reference := range []string{"g", "../g", "//g", "?y"} {
			found = append(found, must(base.Resolve(reference)).String())
		}
		return strings.Join(found, " ")
	}},
	{"url-error", func() string { return located(errorOf(netlib.ParseURLStrict("http://exa mple.com/"))) }},
	{"url-nul", func() string { return located(errorOf(netlib.ParseURL("http://a.example\x00.b/"))) }},
	{"host-nul", func() string {
		err := errorOf(netlib.CreateConnection("127.0.0.1\x00.b", 80, nil, nil))
		if errors.Is(err, netlib.StatusInvalidArgument) && strings.Contains(err.Error(), "NUL at byte 9") {
			return "refused"
		}
		return fmt.Sprint(err)
	}},
	{"truth-values", func() string {
		url := must(netlib.ParseURL("https://example.com:8443/"))
		options := netlib.NewRetryOptions().RaiseOnStatus(false).RaiseOnRedirect(true)
		retry := must(netlib.NewRetry(options))
		return fmt.Sprint(url.SameOrigin(must(netlib.ParseURL("https://example.com:8443/x"))), " ",
			url.SameOrigin(must(netlib.ParseURL("https://example.com/"))), " ", retry.RaiseOnStatus(), " ", retry.RaiseOnRedirect())
	}},
	{"retry-reset", func() string { return downloadLine(get(address("https", "/reset-after-head"))) }},
	{"retry-after", func() string { return downloadLine(get(address("https", "/busy-once"))) }},
	{"retry-redirect", func() string {
		r := get(address("https", "/redirect-other-origin"))
		r.headers = must(netlib.NewHeaders([]netlib.HeaderField{{Name: "connection", Value: "close"},
			{Name: "authorization", Value: "Basic dTpw"}, {Name: "x-one", Value: "1"}}))
		d := must(download(r))
		return fmt.Sprintf("%d %d %s %s authorization=%s x-one=%s", d.status, d.attempts, d.slept(), d.url.Path(),
			received(d.body, "authorization"), received(d.body, "x-one"))
	}},
	{"retry-exhausted", func() string { return failedDownload("/hang-up") }},
	{"retry-stopped", func() string { return failedDownload("/come-back-tomorrow") }},
	{"body-again", func() string {
		r := get(address("https", "/reset-after-request"))
		r.method, r.body = "PUT", must(netlib.BodyFromMemory([]byte("0123456789")))
		r.headers = must(netlib.NewHeaders([]netlib.HeaderField{{Name: "connection", Value: "close"}, {Name: "content-length", Value: "10"}}))
		d := must(download(r))
		_, sent, _ := strings.Cut(d.body, "\n\n")
		return fmt.Sprintf("%d %d %s %s", d.status, d.attempts, d.slept(), sent)
	}},
	{"tls-get", func() string { return downloadLine(get(address("https", "/hello"))) }},
	{"tls-wrong-name", func() string { return describe(handshake("wronghost", netlib.NewTLSOptions())) }},
	{"tls-expired", func() string {
		return describe(handshake("expired", netlib.NewTLSOptions().WallClock(func() (float64, error) { return 2000000000, nil })))
	}},
	{"tls-untrusted", func() string { return describe(handshake("untrusted", netlib.NewTLSOptions())) }},
	{"tls-client", func() string {
		r := get(address("clients", "/hello"))
		r.tls = context_(netlib.NewTLSOptions().IdentityFiles(certificates+"/client.pem", netlib.Text(certificates+"/client.key")))
		return answer(r)
	}},
	{"tls-client-missing", func() string { return answer(get(address("clients", "/hello"))) }},
	{"tls-fingerprint", func() string {
		stream, _, err := netlib.StreamConnect(must(netlib.ParseURL(address("https", "/"))), tls, nil, nil)
		if err != nil {
			return fmt.Sprint(err)
		}
		defer stream.Close()
		must(stream.Handshake())
		certificate := stream.PeerCertificate(0)
		right := strings.TrimSpace(string(must(os.ReadFile(server + "/sha256"))))
		return fmt.Sprint(netlib.AssertFingerprint(certificate, right) == nil, " ",
			statusName(netlib.AssertFingerprint(certificate, strings.Repeat("0", 64))))
	}},
	{"tls-pin", func() string {
		return statusName(handshake("https", netlib.NewTLSOptions().AddPin("sha256//"+strings.Repeat("A", 43)+"=")))
	}},
	{"fifty", func() string {
		var group sync.WaitGroup
		var mutex sync.Mutex
		succeeded := 0
		for i := 0; i < 50; i++ {
			group.Add(1)
			go func() {
				defer group.Done()
				response, _, err := exchange(get(address("http", "/when-fifty-ask")))
				mutex.Lock()
				defer mutex.Unlock()
				if err == nil && response.Status() == 200 {
					succeeded++
				}
			}()
		}
		group.Wait()
		return strconv.Itoa(succeeded)
	}},
	{"deadline", func() string {
		r := get(address("mute", "/"))
		r.limit = must(netlib.NewLimit(0.05, nil))
		return statusName(failedExchange(r))
	}},
	{"cancel", func() string {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		limit, stop, err := netlib.LimitFromContext(ctx)
		if err != nil {
			return fmt.Sprint(err)
		}
		defer stop()
		time.AfterFunc(50*time.Millisecond, cancel)
		r := get(address("mute", "/"))
		r.limit = limit
		err = failedExchange(r)
		if !errors.Is(err, context.Canceled) {
			return fmt.Sprint(err)
		}
		return statusName(err)
	}},
	{"callback-clock", func() string {
		timeout := must(netlib.NewTimeout(10, netlib.TimeoutNone(), netlib.TimeoutNone()))
		now := 100.0
		must(0, timeout.SetClock(func() (float64, error) { return now, nil }))
		must(0, timeout.StartConnect())
		now = 103
		return fmt.Sprintf("%.3f", must(timeout.ReadTimeout()))
	}},
	{"callback-resolve", func() string {
		asked := ""
		r := get(strings.Replace(address("http", "/hello"), "localhost", "a.test", 1))
		r.options = netlib.NewConnectOptions().ResolveCallback(func(host string, port int32, _ float64, addresses *netlib.Addresses) error {
			asked = host
			found := make([]byte, 16) // struct sockaddr_in
			binary.LittleEndian.PutUint16(found, syscall.AF_INET)
			binary.BigEndian.PutUint16(found[2:], uint16(port))
			copy(found[4:], []byte{127, 0, 0, 1})
			return addresses.Add(found)
		})
		got := answer(r)
		return asked + " " + got
	}},
	{"callback-address", func() string {
		classes := netlib.AddressClass(0)
		r := get(strings.Replace(address("https", "/hello"), "localhost", "127.0.0.1", 1))
		r.options = netlib.NewConnectOptions().AddressCallback(func(_ []byte, found netlib.AddressClass) (netlib.Verdict, error) {
			classes = found
			return netlib.VerdictRefuse, nil
		})
		return fmt.Sprint(statusName(failedExchange(r)), " ", int(classes))
	}},
	{"callback-raises", func() string {
		raised := errors.New("raised in the callback")
		r := get(address("http", "/hello") + "-refused")
		r.options = netlib.NewConnectOptions().AddressCallback(func([]byte, netlib.AddressClass) (netlib.Verdict, error) {
			return netlib.VerdictAllow, raised
		})
		err := failedExchange(r)
		log := must(os.ReadFile(server + "/requests"))
		return fmt.Sprint(sameness(err == raised), " ", bytes.Count(log, []byte("?"+tag+"-refused")))
	}},
	{"callback-collected", func() string {
		var slept []string
		retry := must(netlib.NewRetry(netlib.NewRetryOptionsRecommended().Sleep(func(seconds float64) (netlib.Outcome, error) {
			slept = append(slept, fmt.Sprintf("%.3f", seconds))
			return netlib.OutcomeDone, nil
		})))
		runtime.GC()
		runtime.GC()
		response, _, _, err := netlib.ResponseParse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\n\r\n", nil)
		if err != nil {
			return fmt.Sprint(err)
		}
		decision := must(retry.Decide("GET", must(netlib.ParseURL("http://a/")), response, nil, nil))
		must(0, decision.Sleep(nil))
		return strings.Join(slept, ",")
	}},
	{"key-log", func() string {
		file := server + "/key-log-" + tag
		r := get(address("https", "/hello"))
		r.tls = context_(netlib.NewTLSOptions().KeylogFile(netlib.Text(file)))
		must(0, failedExchange(r))
		first, _, _ := strings.Cut(string(must(os.ReadFile(file))), " ")
		return first
	}},
	{"user-data", func() string {
		original := errors.New("an error of the application")
		retry := must(netlib.NewRetry(netlib.NewRetryOptions().Total(0)))
		attempts := must(netlib.NewAttempts(retry, "GET", must(netlib.ParseURL("http://a/")), nil, false, nil))
		return sameness(errors.Is(errorOf(attempts.Next(nil, original)), original))
	}},
	{"collected", func() string {
		before := resident()
		for i := 0; i < 100000; i++ {
			must(netlib.ParseURL("https://user@example.com:8443/a/long/path?" + strconv.Itoa(i)))
			if i%1000 == 0 {
				runtime.GC() // the garbage collector does not see the memory of C
			}
		}
		if resident()-before < 32<<20 {
			return "bounded"
		}
		return strconv.Itoa(resident() - before)
	}},
	{"fork", func() string { return "not applicable: Go programs cannot fork without exec" }},
	{"interrupt", func() string {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
		defer stop()
		limit, done, err := netlib.LimitFromContext(ctx)
		if err != nil {
			return fmt.Sprint(err)
		}
		defer done()
		var sent time.Time
		time.AfterFunc(100*time.Millisecond, func() {
			sent = time.Now()
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		})
		r := get(address("mute", "/"))
		r.limit = limit
		err = failedExchange(r)
		if errors.Is(err, context.Canceled) && time.Since(sent) < time.Second {
			return "interrupted"
		}
		return fmt.Sprint(err, time.Since(sent))
	}},
}

func sameness(same bool) string {
	if same {
		return "same"
	}
	return "different"
}

func located(err error) string {
	var found *netlib.Error
	if !errors.As(err, &found) {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%s %d %s", netlib.StatusName(found.Status()), found.Offset(), found.Message())
}

// received returns a header in the body of the path /echo.
func received(body, name string) string {
	for _, line := range strings.Split(body, "\n") {
		if value, ok := cutPrefix(strings.ToLower(line), name+": "); ok {
			return value
		}
	}
	return "absent"
}

func cutPrefix(text, prefix string) (string, bool) {
	return strings.TrimPrefix(text, prefix), strings.HasPrefix(text, prefix)
}

// resident returns the resident memory of the process in bytes.
func resident() int {
	fields := strings.Fields(string(must(os.ReadFile("/proc/self/statm"))))
	return must(strconv.Atoi(fields[1])) * os.Getpagesize()
}

func run(s step) {
	defer func() {
		if value := recover(); value != nil {
			fmt.Printf("%s\tpanic: %v\n", s.name, value)
		}
	}()
	fmt.Printf("%s\t%s\n", s.name, s.run())
}

func main() {
	server, certificates, tag = os.Args[1], os.Args[2], os.Args[3]
	for _, line := range strings.Fields(string(must(os.ReadFile(server + "/ports")))) {
		name, number, _ := strings.Cut(line, "=")
		ports[name] = number
	}
	tls = context_(netlib.NewTLSOptions())
	for _, s := range steps {
		run(s)
	}
}
