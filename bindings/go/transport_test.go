package netlib

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// tunnel answers a CONNECT. If the answer is empty, opens a tunnel to the address.
func tunnel(t testing.TB, w http.ResponseWriter, answer, address string) {
	near, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer near.Close()
	if answer != "" {
		_, _ = io.WriteString(near, answer)
		_, _ = io.Copy(io.Discard, near)
		return
	}
	far, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, near) }()
	_, _ = io.Copy(near, far)
}

// proxy starts a proxy that answers each CONNECT, and returns its URL. If the answer is empty, the proxy opens a tunnel.
func proxy(t testing.TB, answer string, seen *atomic.Int32) *url.URL {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if r.Method != "CONNECT" || r.Header.Get("Proxy-Authorization") != "Basic dTpw" {
			http.Error(w, "no credentials", http.StatusProxyAuthRequired)
			return
		}
		tunnel(t, w, answer, r.Host)
	}))
	t.Cleanup(server.CloseClientConnections)
	found, err := url.Parse(strings.Replace(server.URL, "http://", "http://u:p@", 1))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestTrustAndPinsHoldWithAndWithoutAProxy(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello") })
	pin := "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for _, row := range []struct {
		name     string
		options  *TLSOptions
		proxy    bool
		answer   string
		user     *url.Userinfo
		expected error
	}{
		{"direct", trusted(t), false, "", nil, nil},
		{"direct, wrong pin", trusted(t).AddPin(pin), false, "", nil, StatusFingerprintMismatch},
		{"direct, not trusted", NewTLSOptions(), false, "", nil, StatusCertificateVerify},
		{"tunnel", trusted(t), true, "", nil, nil},
		{"tunnel, wrong pin", trusted(t).AddPin(pin), true, "", nil, StatusFingerprintMismatch},
		{"tunnel, not trusted", NewTLSOptions(), true, "", nil, StatusCertificateVerify},
		{"no credentials", trusted(t), true, "", &url.Userinfo{}, StatusProxyFailed},
		{"refused", trusted(t), true, "HTTP/1.1 403 No\r\n\r\n", nil, StatusProxyFailed},
		{"early bytes", trusted(t), true, "HTTP/1.1 200 OK\r\n\r\nx", nil, StatusProxyFailed},
		{"garbage", trusted(t), true, "garbage\r\n\r\n", nil, StatusProxyFailed},
	} {
		var seen atomic.Int32
		context, err := NewTLSContext(row.options)
		if err != nil {
			t.Fatal(err)
		}
		var through func(*http.Request) (*url.URL, error)
		if row.proxy {
			address := proxy(t, row.answer, &seen)
			if row.user != nil {
				address.User = row.user
			}
			through = http.ProxyURL(address)
		}
		transport := NewTransport(context, nil, through)
		response, err := (&http.Client{Transport: transport}).Get(local(server))
		if !errors.Is(err, row.expected) {
			t.Errorf("%s: %v, not %v", row.name, err, row.expected)
		}
		if err == nil {
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if string(body) != "hello" {
				t.Errorf("%s: %q", row.name, body)
			}
		}
		if row.proxy != (seen.Load() == 1) {
			t.Errorf("%s: the proxy got %d requests", row.name, seen.Load())
		}
		transport.CloseIdleConnections()
	}
}

func TestAnHTTPSProxyServesHTTPAndHTTPS(t *testing.T) {
	var seen []string
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello") })
	through := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Scheme+" "+r.URL.Path)
		if r.Method != "CONNECT" {
			return
		}
		tunnel(t, w, "", server.Listener.Addr().String())
	})
	address, err := url.Parse(local(through))
	if err != nil {
		t.Fatal(err)
	}
	context, err := NewTLSContext(trusted(t))
	if err != nil {
		t.Fatal(err)
	}
	transport := NewTransport(context, nil, http.ProxyURL(address))
	defer transport.CloseIdleConnections()
	for _, target := range []string{"http://a.example/x", "https://localhost:1/"} {
		response, err := (&http.Client{Transport: transport}).Get(target)
		if err != nil {
			t.Fatal(target, err)
		}
		response.Body.Close()
	}
	if found := strings.Join(seen, ","); found != "GET http /x,CONNECT  " {
		t.Errorf("the proxy got %q", found)
	}
}

// An https proxy for http is also an https server, for which the function decides again.
func TestAnHTTPSProxyForHTTPIsAnotherServerForHTTPS(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })
	port := must(url.Parse(server.URL)).Port()
	loopback := func(_ string, _ int32, _ float64, addresses *Addresses) error {
		address := syscall.RawSockaddrInet4{Family: syscall.AF_INET, Addr: [4]byte{127, 0, 0, 1}}
		return addresses.Add((*[syscall.SizeofSockaddrInet4]byte)(unsafe.Pointer(&address))[:])
	}
	refused := func() *ConnectOptions { return NewConnectOptions().RefuseAddresses(AddressClassLoopback) }
	for _, row := range []struct {
		host, ascii string
		options     *ConnectOptions
		expected    error
	}{
		{"localhost", "localhost", nil, nil},
		{"127.0.0.1", "127.0.0.1", nil, nil},
		{"b\u00fccher.test", "xn--bcher-kva.test", NewConnectOptions().ResolveCallback(loopback), nil},
		{"[::1]", "[::1]", refused(), StatusAddressRefused},
	} {
		secure := "https://" + row.host + ":" + port
		var asked []string
		transport := NewTransport(must(NewTLSContext(trusted(t))), row.options, func(request *http.Request) (*url.URL, error) {
			asked = append(asked, request.URL.Scheme+"://"+request.URL.Host)
			if request.URL.Scheme == "https" {
				return nil, nil
			}
			return url.Parse(secure)
		})
		for _, target := range []string{"http://a.example", secure} {
			host := "a.example"
			if target == secure {
				host = row.ascii + ":" + port
			}
			asked = nil
			body := host
			response, err := (&http.Client{Transport: transport}).Get(target)
			if err == nil {
				body = string(must(io.ReadAll(response.Body)))
				response.Body.Close()
			}
			if !errors.Is(err, row.expected) || body != host {
				t.Errorf("%s: %v, not %v; %q", target, err, row.expected, body)
			}
			if expected := target[:strings.Index(target, ":")] + "://" + host; strings.Join(asked, " ") != expected {
				t.Errorf("%s through %s: the function was asked for %v, not %s", target, secure, asked, expected)
			}
		}
		transport.CloseIdleConnections()
	}
}

func TestAProxyThatEndsEarlyIsAConnectError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for _, answer := range []string{"", "HTTP/1.1 200 OK\r\n" + strings.Repeat("a: b\r\n", 100_000)} {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = near.Read(make([]byte, 1000))
			_, _ = io.WriteString(near, answer)
			near.Close()
		}
	}()
	tls, err := NewTLSContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := NewTransport(tls, nil, http.ProxyURL(&url.URL{Scheme: "http", Host: listener.Addr().String()}))
	for i := 0; i < 2; i++ {
		_, err := transport.DialTLSContext(context.Background(), "tcp", "localhost:443")
		var found *Error
		if !errors.As(err, &found) || found.Status() != StatusProxyFailed || found.RetryKind() != RetryKindConnect {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestAnAddressWithAZoneNeedsNoProxy(t *testing.T) {
	tls, err := NewTLSContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := NewTransport(tls, nil, func(*http.Request) (*url.URL, error) { return nil, nil })
	_, err = transport.DialTLSContext(context.Background(), "tcp", "[fe80::1%none]:1")
	if !errors.Is(err, StatusNameResolution) {
		t.Error(err)
	}
}

func TestAContextEndsTheWaitForAProxy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	tls, err := NewTLSContext(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	transport := NewTransport(tls, nil, http.ProxyURL(&url.URL{Scheme: "http", Host: listener.Addr().String()}))
	if _, err := transport.DialTLSContext(ctx, "tcp", "localhost:443"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	transport = NewTransport(tls, nil, http.ProxyURL(&url.URL{Scheme: "socks5", Host: listener.Addr().String()}))
	if _, err := transport.DialTLSContext(context.Background(), "tcp", "localhost:443"); !errors.Is(err, StatusProxyFailed) {
		t.Error(err)
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
	_, err = NewTransport(context_, nil, nil).DialTLSContext(ctx, "tcp", strings.Replace(listener.Addr().String(), "127.0.0.1", "localhost", 1))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

// silentPeer accepts connections and sends nothing. The first channel gets a value for each connection, the second one
// for each connection that the client has closed.
func silentPeer(t testing.TB) (address string, opened, closed chan bool) {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { listener.Close() })
	opened, closed = make(chan bool, 10), make(chan bool, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			opened <- true
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
			closed <- true
		}
	}()
	return strings.Replace(listener.Addr().String(), "127.0.0.1", "localhost", 1), opened, closed
}

// await fails the test if the channel gets no value for a long time.
func await(t testing.TB, name string, channel chan bool) {
	select {
	case <-channel:
	case <-time.After(20 * time.Second):
		t.Error(name)
	}
}

func TestTheHandshakeTimeoutEndsTheWaitForASilentPeer(t *testing.T) {
	address, _, closed := silentPeer(t)
	for _, row := range []struct {
		name, target, proxy string
		status              Status
		isTimeout           bool
	}{
		{"server", "https://" + address, "", StatusConnectTimeout, true},
		{"http proxy", "https://a.example", "http", StatusConnectTimeout, true},
		{"https proxy", "https://a.example", "https", StatusProxyFailed, false},
		{"https proxy for http", "http://a.example", "https", StatusConnectTimeout, true},
	} {
		var through func(*http.Request) (*url.URL, error)
		if row.proxy != "" {
			through = http.ProxyURL(&url.URL{Scheme: row.proxy, Host: address})
		}
		transport := NewTransport(must(NewTLSContext(nil)), nil, through)
		if transport.TLSHandshakeTimeout != 10*time.Second {
			t.Errorf("%s: the default is %v", row.name, transport.TLSHandshakeTimeout)
		}
		transport.TLSHandshakeTimeout = 20 * time.Millisecond
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := transport.RoundTrip(must(http.NewRequestWithContext(ctx, "GET", row.target, nil)))
		stop()
		var found *Error
		var timeout net.Error
		if !errors.As(err, &found) || found.Status() != row.status || found.RetryKind() != RetryKindConnect {
			t.Errorf("%s: %v", row.name, err)
		}
		if !errors.Is(err, StatusConnectTimeout) {
			t.Errorf("%s: no timeout among the causes of %v", row.name, err)
		}
		if isTimeout := errors.As(err, &timeout) && timeout.Timeout(); isTimeout != row.isTimeout {
			t.Errorf("%s: Timeout is %v for %v", row.name, isTimeout, err)
		}
		await(t, row.name+": the connection stays open", closed)
	}
}

func TestTheHandshakeTimeoutEndsTheConnectionOfACancelledRequest(t *testing.T) {
	address, opened, closed := silentPeer(t)
	transport := NewTransport(must(NewTLSContext(nil)), nil, nil)
	transport.TLSHandshakeTimeout = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-opened
		cancel()
	}()
	if _, err := transport.RoundTrip(must(http.NewRequestWithContext(ctx, "GET", "https://"+address, nil))); err == nil {
		t.Error("the request succeeded")
	}
	await(t, "the connection stays open", closed)
}

// tlsProxy starts an https proxy that opens a tunnel for each CONNECT, and answers each other request itself.
func tlsProxy(t testing.TB) *url.URL {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "CONNECT" {
			tunnel(t, w, "", r.Host)
			return
		}
		_, _ = io.WriteString(w, "hello")
	})
	t.Cleanup(server.CloseClientConnections)
	return must(url.Parse(local(server)))
}

// plainProxy starts an http proxy that does the same.
func plainProxy(t testing.TB) *url.URL {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "CONNECT" {
			tunnel(t, w, "", r.Host)
			return
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(server.CloseClientConnections)
	return must(url.Parse(server.URL))
}

func TestTrustPinsAndAddressPolicyHoldDirectlyAndBehindProxies(t *testing.T) {
	hello := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello") }
	secure, plain := local(serve(t, hello)), httptest.NewServer(http.HandlerFunc(hello))
	defer plain.Close()
	wrongPin := "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	certificate := must(os.ReadFile(certificates(t) + "/server.pem"))
	rightPin := must(CertificateParse(certificate)).PublicKeyPin()
	refusing := func() *ConnectOptions { return NewConnectOptions().RefuseAddresses(AddressClassLoopback) }
	// Refuses the address of the servers, but not that of the proxies.
	refusingServers := func() *ConnectOptions {
		ports := map[uint16]bool{}
		for _, server := range []string{secure, plain.URL} {
			ports[uint16(must(strconv.ParseUint(must(url.Parse(server)).Port(), 10, 16)))] = true
		}
		return NewConnectOptions().AddressCallback(func(address []byte, _ AddressClass) (Verdict, error) {
			if ports[binary.BigEndian.Uint16(address[2:])] { // sin_port and sin6_port
				return VerdictRefuse, nil
			}
			return VerdictAllow, nil
		})
	}
	proxies := map[string]func(*http.Request) (*url.URL, error){
		"direct":      nil,
		"http proxy":  http.ProxyURL(plainProxy(t)),
		"https proxy": http.ProxyURL(tlsProxy(t)),
	}
	for _, row := range []struct {
		name                 string
		target               string
		tls                  *TLSOptions
		options              *ConnectOptions
		direct, plain, https error // for each kind of proxy
	}{
		{"trusted", secure, trusted(t), nil, nil, nil, nil},
		{"right pin", secure, trusted(t).AddPin(rightPin), nil, nil, nil, nil},
		{"wrong pin", secure, trusted(t).AddPin(wrongPin), nil,
			StatusFingerprintMismatch, StatusFingerprintMismatch, StatusFingerprintMismatch},
		{"not trusted", secure, NewTLSOptions().EmbeddedTrust(true), nil,
			StatusCertificateVerify, StatusCertificateVerify, StatusCertificateVerify},
		{"addresses refused", secure, trusted(t), refusing(),
			StatusAddressRefused, StatusAddressRefused, StatusAddressRefused},
		{"addresses of servers refused", secure, trusted(t), refusingServers(), StatusAddressRefused, nil, nil},
		{"http", plain.URL, trusted(t), nil, nil, nil, nil},
		{"http, addresses refused", plain.URL, trusted(t), refusing(),
			StatusAddressRefused, StatusAddressRefused, StatusAddressRefused},
		{"http, addresses of servers refused", plain.URL, trusted(t), refusingServers(), StatusAddressRefused, nil, nil},
		{"http, wrong pin", plain.URL, trusted(t).AddPin(wrongPin), nil, nil, nil, StatusFingerprintMismatch},
	} {
		context := must(NewTLSContext(row.tls))
		for kind, expected := range map[string]error{"direct": row.direct, "http proxy": row.plain, "https proxy": row.https} {
			transport := NewTransport(context, row.options, proxies[kind])
			response, err := (&http.Client{Transport: transport}).Get(row.target)
			if !errors.Is(err, expected) {
				t.Errorf("%s, %s: %v, not %v", row.name, kind, err, expected)
			}
			if err == nil {
				if body, err := io.ReadAll(response.Body); string(body) != "hello" {
					t.Errorf("%s, %s: %q %v", row.name, kind, body, err)
				}
				response.Body.Close()
			}
			transport.CloseIdleConnections()
		}
	}
}

func TestATransportUsesHTTP2IfGoCan(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }
	pair := must(tls.LoadX509KeyPair(certificates(t)+"/server.pem", certificates(t)+"/server.key"))
	server := httptest.NewUnstartedServer(http.HandlerFunc(handler))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	for _, row := range []struct {
		protocols []string
		expected  string
		failure   error
	}{
		{nil, "HTTP/1.1", nil},
		{[]string{"http/1.1"}, "HTTP/1.1", nil},
		{[]string{"h2", "http/1.1"}, map[bool]string{true: "HTTP/2.0"}[hasHTTP2], map[bool]error{false: StatusUnsupported}[hasHTTP2]},
	} {
		options := trusted(t)
		for _, protocol := range row.protocols {
			options.AddALPNProtocol(protocol)
		}
		found := ""
		response, err := client(t, options).Get(local(server))
		if err == nil {
			found = string(must(io.ReadAll(response.Body)))
			response.Body.Close()
		}
		if found != row.expected || !errors.Is(err, row.failure) {
			t.Errorf("%v: %q %v", row.protocols, found, err)
		}
	}
}
