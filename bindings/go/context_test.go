package netlib

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"
)

// fullListener returns the address of a socket to which no connection is made, because its backlog is full.
func fullListener(t testing.TB) string {
	fd := must(syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0))
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	bound := must(syscall.Getsockname(fd)).(*syscall.SockaddrInet4)
	address := (&net.TCPAddr{IP: bound.Addr[:], Port: bound.Port}).String()
	// The backlog takes one or two connections; the next one gets no answer.
	for {
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { conn.Close() })
	}
}

// A cancellation ends each wait at once: the waits have no other end.
func TestAContextEndsEachWait(t *testing.T) {
	full := fullListener(t)
	settings := must(NewTLSContext(trusted(t)))
	withLimit := func(ctx context.Context, use func(*Limit) error) error {
		limit, stop, err := LimitFromContext(ctx)
		if err != nil {
			return err
		}
		defer stop()
		return use(limit)
	}
	waiting := func(ctx context.Context, use func(*Stream) error) error {
		return withLimit(ctx, func(limit *Limit) error {
			stream, _ := ownedStream(t)
			defer stream.Close()
			stream.SetLimit(limit)
			return use(stream)
		})
	}
	silent := func() net.Conn {
		return peer(t, tls.VersionTLS13, func(server *tls.Conn) { _, _ = io.Copy(io.Discard, server.NetConn()) })
	}
	for name, wait := range map[string]func(context.Context) error{
		"CreateConnection": func(ctx context.Context) error {
			return withLimit(ctx, func(limit *Limit) error {
				host, port, _ := net.SplitHostPort(full)
				_, err := CreateConnection(host, int32(must(net.LookupPort("tcp", port))), nil, limit)
				return err
			})
		},
		"StreamConnect": func(ctx context.Context) error {
			return withLimit(ctx, func(limit *Limit) error {
				_, _, err := StreamConnect(parsed(t, "https://"+full), settings, nil, limit)
				return err
			})
		},
		"ConnectOptions.DialContext": func(ctx context.Context) error {
			_, err := NewConnectOptions().DialContext(ctx, "tcp", full)
			return err
		},
		"http.Request": func(ctx context.Context) error {
			request := must(http.NewRequestWithContext(ctx, "GET", "https://"+full, nil))
			_, err := (&http.Client{Transport: NewTransport(settings, nil, nil)}).Do(request)
			return err
		},
		"Stream.Read": func(ctx context.Context) error {
			return waiting(ctx, func(stream *Stream) error { _, _, err := stream.Read(make([]byte, 1)); return err })
		},
		"Stream.Write": func(ctx context.Context) error {
			return waiting(ctx, func(stream *Stream) error { _, _, err := stream.Write(make([]byte, 64<<20)); return err })
		},
		"Conn.HandshakeContext": func(ctx context.Context) error {
			return must(Client(silent(), settings, "localhost")).HandshakeContext(ctx)
		},
		"Attempts.Next": func(ctx context.Context) error {
			return withLimit(ctx, func(limit *Limit) error {
				retry := must(NewRetry(NewRetryOptionsRecommended()))
				attempts := must(NewAttempts(retry, "GET", parsed(t, "http://a/"), nil, false, limit))
				response, _, _, err := ResponseParse("GET", "HTTP/1.1 503 Busy\r\nRetry-After: 100\r\n\r\n", nil)
				if err != nil {
					return err
				}
				_, err = attempts.Next(response, nil)
				return err
			})
		},
		"WaitForRead": func(ctx context.Context) error {
			return withLimit(ctx, func(limit *Limit) error {
				receiver, sender, _ := os.Pipe()
				defer receiver.Close()
				defer sender.Close()
				_, err := WaitForRead(int(receiver.Fd()), TimeoutNone(), limit)
				return err
			})
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		var cancelled time.Time
		time.AfterFunc(20*time.Millisecond, func() {
			cancelled = time.Now()
			cancel()
		})
		if err := wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		<-ctx.Done()
		if took := time.Since(cancelled); took > 5*time.Second {
			t.Errorf("%s: the wait continued for %v", name, took)
		}
	}
}
