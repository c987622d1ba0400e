package netlib

import (
	"bytes"
	"context"
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

// blocked is a connection whose writes wait until it is closed.
type blocked struct {
	net.Conn
	writes, closed chan struct{}
}

func (c blocked) Write([]byte) (int, error) {
	c.writes <- struct{}{}
	<-c.closed
	return 0, errors.New("the connection is closed")
}

func (c blocked) Close() error {
	close(c.closed)
	return c.Conn.Close()
}

func TestCloseEndsAWriteOfAnotherGoroutine(t *testing.T) {
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(server, server) }))
	raw := blocked{conn.Conn, make(chan struct{}, 10), make(chan struct{})}
	conn.Conn = raw
	ended := make(chan error, 1)
	go func() {
		_, err := conn.Write([]byte("a"))
		ended <- err
	}()
	<-raw.writes
	// A read does not wait for the write.
	_ = conn.SetReadDeadline(time.Unix(1, 0))
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != net.ErrClosed {
		t.Fatal(err)
	}
}

func TestAWriteContinuesAfterADeadline(t *testing.T) {
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(server, server) }))
	raw := conn.Conn
	writeLate := func() {
		_ = conn.SetDeadline(time.Unix(1, 0))
		if n, err := conn.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(n, err)
		}
	}
	writeLate()
	_ = conn.SetDeadline(time.Time{})
	// The net.Conn takes 3 bytes of the first record.
	near := &limited{Conn: raw, left: 3}
	conn.Conn = near
	n, err := conn.Write([]byte("hello"))
	if n != 5 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(n, err)
	}
	writeLate()
	// A read does not send the rest, which the peer may not take before the read.
	writes := near.writes
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || near.writes != writes {
		t.Fatal(near.writes-writes, err)
	}
	_ = conn.SetDeadline(time.Time{})
	conn.Conn = raw
	if n, err := conn.Write([]byte(" again")); n != 6 || err != nil {
		t.Fatal(n, err)
	}
	received := make([]byte, 11)
	if _, err := io.ReadFull(conn, received); err != nil || string(received) != "hello again" {
		t.Fatal(string(received), err)
	}
}

// limited is a connection that takes a number of bytes.
type limited struct {
	net.Conn
	left, writes int
}

func (c *limited) Write(data []byte) (int, error) {
	c.writes++
	if len(data) <= c.left {
		c.left -= len(data)
		return c.Conn.Write(data)
	}
	n, _ := c.Conn.Write(data[:c.left])
	c.left = 0
	return n, os.ErrDeadlineExceeded
}

func TestAHandshakeContinuesAfterADeadline(t *testing.T) {
	raw := peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(server, server) })
	conn := must(Client(&limited{Conn: raw, left: 3}, must(NewTLSContext(trusted(t))), "localhost"))
	if err := conn.HandshakeContext(context.Background()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	conn.Conn = raw
	if err := conn.HandshakeContext(context.Background()); err != nil {
		t.Fatal(err)
	}
}
