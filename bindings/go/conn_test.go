package netlib

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand"
	"net"
	"os"
	"testing"
	"time"
)

func TestOneWriteSendsMoreBytesThanTheEngineTakes(t *testing.T) {
	sent := make([]byte, 2<<20)
	rand.New(rand.NewSource(1)).Read(sent)
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(server, server) }))
	written := make(chan error, 1)
	go func() {
		n, err := conn.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		if err != nil {
			conn.Close() // ends the read
		}
		written <- err
	}()
	received := make([]byte, len(sent))
	_, err := io.ReadFull(conn, received)
	if err != nil || !bytes.Equal(received, sent) {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// filling is a connection whose reads fill the buffer.
type filling struct{ net.Conn }

func (c filling) Read(buffer []byte) (int, error) {
	n, err := io.ReadFull(c.Conn, buffer)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

func TestTheEngineGetsTheBytesForWhichItHadNoRoom(t *testing.T) {
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<15)
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) {
		_, _ = server.Write(sent)
		server.Close()
	}))
	conn.Conn, conn.buffer = filling{conn.Conn}, make([]byte, 200<<10)
	received, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(received, sent) {
		t.Fatal(len(received), err)
	}
}

func TestAReceiveIsOmittedAfterTheReceiveOfAnotherGoroutine(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	near.Close()
	conn := &Conn{Conn: near, received: 1}
	if err := conn.receive(0); err != nil {
		t.Fatal(err)
	}
}

func TestADeadlineEndsARead(t *testing.T) {
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(server, server) }))
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	received := make([]byte, 5)
	if n, err := conn.Read(received); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(n, err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	if _, err := conn.Write([]byte("again")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, received); err != nil || string(received) != "again" {
		t.Fatal(string(received), err)
	}
}

// notifying is a connection that reports that a read begins.
type notifying struct {
	net.Conn
	reads chan struct{}
}

func (c notifying) Read(buffer []byte) (int, error) {
	c.reads <- struct{}{}
	return c.Conn.Read(buffer)
}

func TestCloseEndsAReadOfAnotherGoroutine(t *testing.T) {
	// With TLS 1.2, nothing follows the handshake: the read waits until the end.
	conn := connect(t, peer(t, tls.VersionTLS12, func(server *tls.Conn) {
		_ = server.Handshake()
		_, _ = io.Copy(io.Discard, server.NetConn())
	}))
	reads := make(chan struct{}, 1)
	conn.Conn = notifying{conn.Conn, reads}
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 10))
		ended <- err
	}()
	<-reads
	_ = conn.Close()
	select {
	case err := <-ended:
		if err != net.ErrClosed {
			t.Fatal(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read continues")
	}
}

func TestTheConnectionStateDescribesTheHandshake(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		conn := connect(t, peer(t, version, func(server *tls.Conn) { _, _ = io.Copy(server, server) }))
		state := conn.ConnectionState()
		suite := conn.Engine().CipherSuite()
		if state.Version != version || !state.HandshakeComplete || tls.CipherSuiteName(state.CipherSuite) != suite ||
			state.ServerName != "localhost" || state.PeerCertificates[0].VerifyHostname("localhost") != nil {
			t.Errorf("%x: %+v", version, state)
		}
		conn.Close()
		if state := conn.ConnectionState(); state.HandshakeComplete {
			t.Errorf("%x: %+v", version, state)
		}
	}
}
