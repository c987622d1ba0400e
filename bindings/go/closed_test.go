package netlib

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pair returns a stream on a socket, and the other end of the socket.
func pair(t testing.TB) (*Stream, *os.File) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far := os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far")
	t.Cleanup(func() { near.Close(); far.Close() })
	return must(NewStreamFD(fds[0])), far
}

// closedStream returns a stream that is closed.
func closedStream(t testing.TB) *Stream {
	stream, _ := pair(t)
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	return stream
}

func TestACallThatReturnsAnErrorReturnsErrClosedForAClosedObject(t *testing.T) {
	stream, options := closedStream(t), NewTLSOptions()
	options.Close()
	url, body := parsed(t, "http://a/"), must(BodyFromMemory([]byte("a")))
	url.Close()
	body.Close()
	failure := must(NewError(StatusProtocol, "failed", nil))
	failure.Close()
	conn := connect(t, peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(server, server) }))
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 1)
	for name, call := range map[string]func() error{
		"Stream.Read":            func() error { _, _, err := stream.Read(buffer); return err },
		"Stream.Write":           func() error { _, _, err := stream.Write(buffer); return err },
		"Stream.Shutdown":        func() error { _, err := stream.Shutdown(); return err },
		"Stream.SetReadTimeout":  func() error { return stream.SetReadTimeout(1) },
		"Stream.Close":           stream.Close,
		"URL.Resolve":            func() error { _, err := url.Resolve("b"); return err },
		"Body.Read":              func() error { _, _, err := body.Read(buffer); return err },
		"options of a function":  func() error { _, err := NewTLSContext(options); return err },
		"argument of a function": func() error { _, _, err := StreamConnect(url, nil, nil, nil); return err },
		"argument of a setter":   func() error { _, err := NewError(StatusProtocol, "", NewErrorOptions().Cause(failure)); return err },
		"Conn.Read":              func() error { _, err := conn.Read(buffer); return err },
		"Conn.Write":             func() error { _, err := conn.Write(buffer); return err },
		"Conn.Close":             conn.Close,
		"Conn.HandshakeContext":  func() error { return conn.HandshakeContext(context.Background()) },
		"Conn.SetDeadline":       func() error { return conn.SetDeadline(time.Time{}) },
	} {
		if err := call(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := stream.Read(buffer); err.Error() != "netlib: the Stream is closed" {
		t.Error(err)
	}
}

// ownedStream connects a stream that owns its descriptor, and returns the server's connection.
func ownedStream(t testing.TB) (*Stream, net.Conn) {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	defer listener.Close()
	stream, _, err := StreamConnect(parsed(t, "http://"+listener.Addr().String()), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	far := must(listener.Accept())
	t.Cleanup(func() { far.Close() })
	return stream, far
}

func TestCloseEndsTheCallOfAnotherGoroutineOnAStream(t *testing.T) {
	settings := must(NewTLSContext(trusted(t)))
	for _, row := range []struct {
		name string
		open func() (*Stream, io.Reader)
		call func(*Stream) error
	}{
		{"read", func() (*Stream, io.Reader) { stream, far := pair(t); return stream, far },
			func(stream *Stream) error { _, _, err := stream.Read(make([]byte, 1)); return err }},
		{"read of an owned descriptor", func() (*Stream, io.Reader) { stream, far := ownedStream(t); return stream, far },
			func(stream *Stream) error { _, _, err := stream.Read(make([]byte, 1)); return err }},
		{"write", func() (*Stream, io.Reader) { stream, far := ownedStream(t); return stream, far },
			func(stream *Stream) error { _, _, err := stream.Write(make([]byte, 64<<20)); return err }},
		{"response", func() (*Stream, io.Reader) { stream, far := pair(t); return stream, far },
			func(stream *Stream) error { _, _, err := stream.ReadResponse("GET"); return err }},
		{"handshake", func() (*Stream, io.Reader) {
			plain, far := pair(t)
			return must(TLSWrapFD(settings, plain.FD(), "localhost")), far
		}, func(stream *Stream) error { _, err := stream.Handshake(); return err }},
	} {
		stream, far := row.open()
		ended := make(chan error, 1)
		go func() { ended <- row.call(stream) }()
		for atomic.LoadInt64(&stream.state) == 0 {
			time.Sleep(time.Millisecond)
		}
		if err := stream.Close(); err != nil {
			t.Errorf("%s: Close: %v", row.name, err)
		}
		select {
		case err := <-ended:
			if !errors.Is(err, net.ErrClosed) {
				t.Errorf("%s: %v", row.name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the call continues", row.name)
		}
		if _, err := io.Copy(io.Discard, far); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestCloseWithoutACallLeavesABorrowedDescriptorOpen(t *testing.T) {
	stream, far := pair(t)
	again := must(NewStreamFD(stream.FD()))
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = far.Write([]byte("a"))
	buffer := make([]byte, 1)
	if n, _, err := again.Read(buffer); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

func TestAnEngineWithoutASessionReturnsNil(t *testing.T) {
	engine := must(NewTLSEngineClient(must(NewTLSContext(trusted(t))), "localhost"))
	if session := must(engine.TakeSession()); session != nil {
		t.Error("there is a session")
	}
}
