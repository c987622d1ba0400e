package netlib

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// NewTransport returns an [net/http.Transport] that connects and makes its TLS connections with netlib, directly or
// through a proxy. The trust settings and pins of tls therefore always apply. (http.Transport itself ignores
// DialTLSContext for https behind a proxy.)
//
// options apply to each connection that the transport makes: to that to the server or, behind a proxy, to that to the
// proxy. So [ConnectOptions.RefuseAddresses] refuses the address of a proxy, but not that of a server behind the proxy,
// which the proxy resolves: let the proxy refuse such addresses. options may be nil.
//
// proxy works like the field Proxy of http.Transport: http.ProxyFromEnvironment, http.ProxyURL, or nil for no proxy.
// For https, proxy gets a request that has only a scheme and a host, because all requests to this host share the
// connections. The scheme of a proxy is http or https. The certificate of an https proxy is verified with tls too.
//
// The transport uses HTTP/2 if the server chooses it, which needs Go 1.27 or newer and "h2" among the protocols of tls:
// see [TLSOptions.AddALPNProtocol]. With an older Go, and with an https proxy, a connection for which "h2" is chosen
// fails with [StatusUnsupported].
//
// TLSHandshakeTimeout bounds each TLS handshake, and each CONNECT request to a proxy. The default is 10 seconds, and 0
// means no timeout. The error has the status [StatusConnectTimeout]; if the timeout ends the handshake with an https
// proxy of an https request, this error is the cause of one with the status [StatusProxyFailed]. A clone of the
// transport uses the TLSHandshakeTimeout of the original. With Go 1.27, a connection attempt continues after its
// request has ended: [ConnectOptions.Timeout] bounds the attempt.
//
// For http through an https proxy, the function GetConn of [net/http/httptrace.ClientTrace] gets the address of the
// proxy with a random label before its host.
//
// Do not change the fields Proxy, DialContext and DialTLSContext of the result.
func NewTransport(tls *TLSContext, options *ConnectOptions, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	dialer := &dialer{tls: tls, options: options, proxy: proxy, mark: newMark()}
	dialer.transport = &http.Transport{
		ForceAttemptHTTP2:   hasHTTP2,
		TLSHandshakeTimeout: 10 * time.Second,
		DialContext:         options.DialContext,
		DialTLSContext:      dialer.dial,
		Proxy:               dialer.proxyForHTTP,
	}
	return dialer.transport
}

// dialer makes the TLS connections of a transport.
type dialer struct {
	tls       *TLSContext
	options   *ConnectOptions
	proxy     func(*http.Request) (*url.URL, error)
	transport *http.Transport
	// mark precedes the host of an https proxy for http, because http.Transport connects to such a proxy and to an https
	// server with the same function, which gets only the address. The mark is random, so that no server has it.
	mark string
}

// newMark returns a random label of a host name, which begins with a letter as IDNA requires beside some scripts.
func newMark() string {
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		panic(err)
	}
	return "p" + hex.EncodeToString(random[:]) + "."
}

// proxyForHTTP returns the proxy of an http request, and nil for https: dialServer makes the tunnel.
func (d *dialer) proxyForHTTP(request *http.Request) (*url.URL, error) {
	if d.proxy == nil || request.URL.Scheme == "https" {
		return nil, nil
	}
	through, err := d.proxy(request)
	if err != nil || through == nil || through.Scheme != "https" {
		return through, err
	}
	marked := *through
	marked.Host = d.mark + through.Host
	if strings.HasPrefix(through.Host, "[") {
		marked.Host = "[" + d.mark + through.Host[1:]
	}
	return &marked, nil
}

// dial makes a TLS connection to an https server, or to an https proxy for http.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if unmarked := strings.Replace(address, d.mark, "", 1); unmarked != address {
		return d.dialProxy(ctx, network, unmarked)
	}
	return d.dialServer(ctx, network, address)
}

// dialProxy makes a TLS connection to a proxy.
func (d *dialer) dialProxy(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := d.options.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.handshake(ctx, raw, address, false)
}

// dialServer makes a TLS connection to a server, directly or through a proxy.
func (d *dialer) dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := d.dialTunnel(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.handshake(ctx, raw, address, hasHTTP2)
}

// dialTunnel connects to a server, directly or through a proxy.
func (d *dialer) dialTunnel(ctx context.Context, network, address string) (net.Conn, error) {
	var through *url.URL
	if d.proxy != nil {
		request := &http.Request{Method: "GET", URL: &url.URL{Scheme: "https", Host: address}, Host: address, Header: http.Header{}}
		var err error
		if through, err = d.proxy(request.WithContext(ctx)); err != nil {
			return nil, err
		}
	}
	if through == nil {
		return d.options.DialContext(ctx, network, address)
	}
	port := map[string]string{"http": "80", "https": "443"}[through.Scheme]
	if port == "" {
		return nil, proxyError(fmt.Sprintf("the scheme of the proxy is %q, not http or https", through.Scheme), nil)
	}
	near := proxyAddress(through, port)
	dial := d.options.DialContext
	if through.Scheme == "https" {
		dial = d.dialProxy
	}
	conn, err := dial(ctx, network, near)
	if err != nil {
		return nil, proxyError("no connection to the proxy "+near, NewErrorOptions().Cause(err))
	}
	err = d.withTimeout(ctx, "the CONNECT request to "+near, func(ctx context.Context) error {
		return until(ctx, conn, func() error { return openTunnel(conn, through.User, address) })
	})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// withTimeout calls use with a context that ends after TLSHandshakeTimeout, because the context of a dial may outlive
// the request.
func (d *dialer) withTimeout(ctx context.Context, description string, use func(context.Context) error) error {
	timeout := d.transport.TLSHandshakeTimeout
	if timeout <= 0 {
		return use(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := use(bounded)
	if err == context.DeadlineExceeded && ctx.Err() == nil {
		return madeError(StatusConnectTimeout, fmt.Sprintf("%s took longer than TLSHandshakeTimeout, %v", description, timeout), nil)
	}
	return err
}

func proxyAddress(proxy *url.URL, port string) string {
	if proxy.Port() != "" {
		port = proxy.Port()
	}
	return net.JoinHostPort(proxy.Hostname(), port)
}

// maxProxyResponse is the maximum size of a proxy's response.
const maxProxyResponse = 256 << 10

// openTunnel asks a proxy for a tunnel.
func openTunnel(conn net.Conn, user *url.Userinfo, address string) error {
	request := &http.Request{Method: "CONNECT", URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if password, _ := user.Password(); user != nil {
		credentials := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+credentials)
	}
	err := request.Write(conn)
	reader := bufio.NewReader(io.LimitReader(conn, maxProxyResponse))
	var response *http.Response
	if err == nil {
		response, err = http.ReadResponse(reader, request)
	}
	if err != nil {
		// The request to the server was not sent.
		return proxyError("the proxy sent no valid response", NewErrorOptions().Cause(err).RetryKind(RetryKindConnect))
	}
	if response.StatusCode != http.StatusOK {
		return proxyError("the proxy answered "+response.Status, nil)
	}
	// The server sends nothing before netlib has begun the handshake.
	if reader.Buffered() > 0 {
		return proxyError("the proxy sent bytes after its response", nil)
	}
	return nil
}

// handshake makes a TLS connection to the host of an address. Closes raw if that fails.
func (d *dialer) handshake(ctx context.Context, raw net.Conn, address string, allowsHTTP2 bool) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	var conn *Conn
	if err == nil {
		conn, err = Client(raw, d.tls, host)
	}
	if err == nil {
		err = d.withTimeout(ctx, "the TLS handshake with "+address, conn.HandshakeContext)
	}
	if err == nil && !allowsHTTP2 && conn.engine.ALPNProtocol() == "h2" {
		err = madeError(StatusUnsupported, address+` has chosen h2, which is not possible here: TLSOptions.AddALPNProtocol without "h2"`, nil)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

func proxyError(message string, options *ErrorOptions) error {
	return madeError(StatusProxyFailed, message, options)
}

func madeError(status Status, message string, options *ErrorOptions) error {
	made, err := NewError(status, message, options)
	if err != nil {
		return err
	}
	return made
}
