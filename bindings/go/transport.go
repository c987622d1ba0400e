package netlib

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
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
// Do not change the fields Proxy, DialContext and DialTLSContext of the result.
func NewTransport(tls *TLSContext, options *ConnectOptions, proxy func(*http.Request) (*url.URL, error)) *http.Transport {
	// The addresses of https proxies for http, to which http.Transport connects with DialTLSContext.
	var proxies sync.Map
	return &http.Transport{
		ForceAttemptHTTP2: hasHTTP2,
		DialContext:       options.DialContext,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if _, isProxy := proxies.Load(address); isProxy {
				return dialTLS(ctx, tls, options, network, address)
			}
			raw, err := dialServer(ctx, tls, options, proxy, network, address)
			if err != nil {
				return nil, err
			}
			return handshake(ctx, raw, tls, address, hasHTTP2)
		},
		Proxy: func(request *http.Request) (*url.URL, error) {
			if proxy == nil || request.URL.Scheme == "https" {
				return nil, nil
			}
			through, err := proxy(request)
			if err == nil && through != nil && through.Scheme == "https" {
				proxies.Store(proxyAddress(through, "443"), true)
			}
			return through, err
		},
	}
}

// dialTLS makes a TLS connection to a proxy.
func dialTLS(ctx context.Context, tls *TLSContext, options *ConnectOptions, network, address string) (net.Conn, error) {
	raw, err := options.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return handshake(ctx, raw, tls, address, false)
}

// dialServer connects to a server, directly or through a proxy.
func dialServer(ctx context.Context, tls *TLSContext, options *ConnectOptions, proxy func(*http.Request) (*url.URL, error), network, address string) (net.Conn, error) {
	var through *url.URL
	if proxy != nil {
		request := &http.Request{Method: "GET", URL: &url.URL{Scheme: "https", Host: address}, Host: address, Header: http.Header{}}
		var err error
		if through, err = proxy(request.WithContext(ctx)); err != nil {
			return nil, err
		}
	}
	if through == nil {
		return options.DialContext(ctx, network, address)
	}
	port := map[string]string{"http": "80", "https": "443"}[through.Scheme]
	if port == "" {
		return nil, proxyError(fmt.Sprintf("the scheme of the proxy is %q, not http or https", through.Scheme), nil)
	}
	near := proxyAddress(through, port)
	dial := options.DialContext
	if through.Scheme == "https" {
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialTLS(ctx, tls, options, network, address)
		}
	}
	conn, err := dial(ctx, network, near)
	if err != nil {
		return nil, proxyError("no connection to the proxy "+near, NewErrorOptions().Cause(err))
	}
	if err := until(ctx, conn, func() error { return openTunnel(conn, through.User, address) }); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
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
func handshake(ctx context.Context, raw net.Conn, tls *TLSContext, address string, allowsHTTP2 bool) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	var conn *Conn
	if err == nil {
		conn, err = Client(raw, tls, host)
	}
	if err == nil {
		err = conn.HandshakeContext(ctx)
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
