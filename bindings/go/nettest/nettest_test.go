// Package nettest runs the tests of golang.org/x/net/nettest, which state how a net.Conn behaves, with netlib's Conn.
package nettest

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"testing"

	"golang.org/x/net/nettest"
	"netlib.example/netlib"
)

func TestConn(t *testing.T) {
	certificates := os.Getenv("NETLIB_CERTIFICATES")
	pair, err := tls.LoadX509KeyPair(certificates+"/server.pem", certificates+"/server.key")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := netlib.NewTLSContext(netlib.NewTLSOptions().AddCAFile(certificates + "/ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	nettest.TestConn(t, func() (near, far net.Conn, stop func(), err error) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, nil, err
		}
		defer listener.Close()
		dialed, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			return nil, nil, nil, err
		}
		accepted, err := listener.Accept()
		if err != nil {
			return nil, nil, nil, err
		}
		client, err := netlib.Client(dialed, settings, "localhost")
		if err != nil {
			return nil, nil, nil, err
		}
		server := tls.Server(accepted, &tls.Config{Certificates: []tls.Certificate{pair}})
		// During the handshake, a Write also reads, and so obeys both deadlines.
		shaken := make(chan error)
		go func() { shaken <- server.Handshake() }()
		err = client.HandshakeContext(context.Background())
		if serverErr := <-shaken; err == nil {
			err = serverErr
		}
		return client, server, func() {
			client.Close()
			server.Close()
		}, err
	})
}
