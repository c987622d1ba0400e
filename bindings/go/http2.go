//go:build go1.27

package netlib

// hasHTTP2 is true if http.Transport uses HTTP/2 on a connection that is no *tls.Conn.
const hasHTTP2 = true
