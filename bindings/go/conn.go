package netlib

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Conn is a TLS connection on a [net.Conn]. netlib's engine makes the records, and Go's runtime does the I/O. A
// waiting goroutine therefore needs no thread, and deadlines work as on the net.Conn. After a deadline has passed,
// the connection can still be used.
//
// Several goroutines may call the methods at the same time. After Close, they return [net.ErrClosed].
type Conn struct {
	net.Conn
	mutex         sync.Mutex // guards engine, closed and writeDeadline
	engine        *TLSEngine
	closed        bool
	writeDeadline time.Time
	unsent        []byte // output of the engine that the net.Conn has not taken; changes with mutex and sending
	// Several goroutines may read, or write.
	reading, writing, sending sync.Mutex
	// buffer holds the received bytes; unfed is the part for which the engine had no room.
	buffer, unfed []byte
	// received counts the reads from the net.Conn.
	received int
}

// Client returns a TLS connection to the named server. The first Read or Write makes the handshake. Close also
// closes conn.
func Client(conn net.Conn, settings *TLSContext, serverName string) (*Conn, error) {
	engine, err := NewTLSEngineClient(settings, serverName)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn, engine: engine}, nil
}

// Engine returns the engine, for its getters. Do not use the engine during a Read or a Write.
func (c *Conn) Engine() *TLSEngine { return c.engine }

// HandshakeContext makes the handshake. If the context ends first, the connection cannot be used any more.
func (c *Conn) HandshakeContext(ctx context.Context) error {
	return until(ctx, c.Conn, func() error {
		return c.do(func() (Status, error) { return c.engine.Handshake() })
	})
}

// until calls use, which reads and writes a connection. When the context ends, the waits of use end.
func until(ctx context.Context, conn net.Conn, use func() error) error {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
			conn.SetDeadline(time.Unix(1, 0))
		case <-done:
		}
	}()
	err := use()
	close(done)
	<-ended
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// do repeats a call of the engine until the call needs no more input. Sends the output of each call.
func (c *Conn) do(call func() (Status, error)) error {
	for {
		c.mutex.Lock()
		if c.closed {
			c.mutex.Unlock()
			return net.ErrClosed
		}
		status, err := call()
		received, isEstablished := c.received, c.isEstablished()
		c.mutex.Unlock()
		// A failed call may have queued an alert. After the handshake, only a Write reports that sending fails.
		if sendErr := c.trySend(); err == nil && sendErr != nil && !isEstablished {
			return sendErr
		}
		if err != nil {
			return err
		}
		switch status {
		case StatusWantRead:
			if err := c.receive(received); err != nil {
				return err
			}
		case StatusEndOfStream:
			return io.EOF
		default:
			return nil
		}
	}
}

func (c *Conn) isEstablished() bool { return c.engine.Version() != TLSVersionNone }

// send sends the output of the engine.
func (c *Conn) send() error {
	c.sending.Lock()
	err := c.sendLocked()
	c.sending.Unlock()
	if err != nil {
		return err
	}
	return c.trySend()
}

// trySend sends the output of the engine, unless another goroutine does so, or a Write has left bytes: a Read must not
// wait until the peer takes bytes, because the peer may take them only after the Read.
func (c *Conn) trySend() error {
	for c.hasOutput() && c.sending.TryLock() {
		err := c.sendLocked()
		c.sending.Unlock()
		if err != nil {
			return err
		}
		// Another goroutine may have queued output in the meantime, and have found the lock taken.
	}
	return nil
}

func (c *Conn) hasOutput() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.closed:
		return false
	case len(c.unsent) > 0:
		return !c.isEstablished()
	}
	return c.engine.OutputPending() > 0
}

// sendLocked sends the output of the engine. The caller holds the lock `sending`, so that Close does not close the
// engine.
func (c *Conn) sendLocked() error {
	if c.isClosed() {
		return net.ErrClosed
	}
	return c.flush()
}

func (c *Conn) flush() error {
	for {
		if len(c.unsent) > 0 {
			n, err := c.Conn.Write(c.unsent)
			c.mutex.Lock()
			c.unsent = c.unsent[n:]
			c.mutex.Unlock()
			if err != nil {
				return err
			}
		}
		if err := c.drain(); err != nil || len(c.unsent) == 0 {
			return err
		}
	}
}

// drain takes the output of the engine.
func (c *Conn) drain() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.unsent = nil
	pending := c.engine.OutputPending()
	if pending == 0 {
		return nil
	}
	buffer := make([]byte, pending)
	n, err := c.engine.Drain(buffer)
	c.unsent = buffer[:n]
	return err
}

// receive reads from the net.Conn, and feeds the engine. Returns at once if another goroutine has done so after the
// caller saw the counter `received`.
func (c *Conn) receive(received int) error {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mutex.Lock()
	isNew, unfed := c.received != received, c.unfed
	c.mutex.Unlock()
	if isNew {
		return nil
	}
	var err error
	if len(unfed) == 0 {
		if c.buffer == nil {
			c.buffer = make([]byte, 17<<10) // a record and its header
		}
		var n int
		n, err = c.Conn.Read(c.buffer)
		unfed = c.buffer[:n]
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed {
		return net.ErrClosed
	}
	c.received++
	fed, feedErr := c.engine.Feed(unfed)
	if feedErr != nil {
		return feedErr
	}
	c.unfed = unfed[fed:]
	if err != io.EOF {
		return err
	}
	if len(c.unfed) == 0 {
		c.engine.FeedEOF()
	}
	return nil
}

// Read returns io.EOF after close_notify, and an Error with StatusTLSTruncated if the connection ended without it.
func (c *Conn) Read(buffer []byte) (n int, err error) {
	err = c.do(func() (status Status, err error) {
		n, status, err = c.engine.Read(buffer)
		return status, err
	})
	return n, err
}

// Write sends all of data. If it returns an error, it has taken the first n bytes: the next Write or Close sends
// those of them that are not sent yet.
func (c *Conn) Write(data []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	// The bytes of an earlier Write that failed come first.
	for err = c.send(); err == nil; err = c.send() {
		err = c.do(func() (Status, error) {
			if !c.writeDeadline.IsZero() && !time.Now().Before(c.writeDeadline) {
				return StatusOK, os.ErrDeadlineExceeded
			}
			taken, status, err := c.engine.Write(data[n:])
			n += taken
			return status, err
		})
		if err != nil || n == len(data) {
			break
		}
	}
	if err == nil {
		err = c.send()
	}
	if err != nil && c.isClosed() {
		err = net.ErrClosed
	}
	return n, err
}

// SetDeadline sets the deadlines for Read and Write.
func (c *Conn) SetDeadline(deadline time.Time) error {
	c.setWriteDeadline(deadline)
	return c.Conn.SetDeadline(deadline)
}

// SetWriteDeadline sets the deadline for Write.
func (c *Conn) SetWriteDeadline(deadline time.Time) error {
	c.setWriteDeadline(deadline)
	return c.Conn.SetWriteDeadline(deadline)
}

// The engine takes bytes although the net.Conn would not.
func (c *Conn) setWriteDeadline(deadline time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.writeDeadline = deadline
}

func (c *Conn) isClosed() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.closed
}

// closeTimeout is the time for which Close waits for the net.Conn to take close_notify.
const closeTimeout = 5 * time.Second

// Close sends close_notify, and closes the net.Conn. Read and Write of other goroutines return [net.ErrClosed].
// While another goroutine writes, Close sends no close_notify. Otherwise, it waits at most 5 seconds. The second
// Close returns net.ErrClosed.
func (c *Conn) Close() error {
	c.mutex.Lock()
	if c.closed {
		c.mutex.Unlock()
		return net.ErrClosed
	}
	c.closed = true
	_ = c.engine.Shutdown()
	c.mutex.Unlock()
	if c.sending.TryLock() {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(closeTimeout))
		_ = c.flush()
		c.sending.Unlock()
	}
	err := c.Conn.Close()
	// The goroutine that sends uses the engine.
	c.sending.Lock()
	defer c.sending.Unlock()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.engine.Close()
	return err
}

// ConnectionState describes the connection after the handshake, with the fields Version, HandshakeComplete, DidResume,
// CipherSuite, NegotiatedProtocol, ServerName and PeerCertificates. VerifiedChains is nil, because netlib verifies the
// certificates.
func (c *Conn) ConnectionState() tls.ConnectionState {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.closed || !c.isEstablished() {
		return tls.ConnectionState{}
	}
	state := tls.ConnectionState{
		Version:                    uint16(c.engine.Version()),
		HandshakeComplete:          true,
		DidResume:                  c.engine.IsResumed(),
		NegotiatedProtocol:         c.engine.ALPNProtocol(),
		NegotiatedProtocolIsMutual: true,
		ServerName:                 c.engine.ServerName(),
	}
	for _, suite := range tls.CipherSuites() {
		if suite.Name == c.engine.CipherSuite() {
			state.CipherSuite = suite.ID
		}
	}
	for at := 0; at < c.engine.PeerCertificateCount(); at++ {
		if certificate, err := x509.ParseCertificate(c.engine.PeerCertificate(at)); err == nil {
			state.PeerCertificates = append(state.PeerCertificates, certificate)
		}
	}
	return state
}
