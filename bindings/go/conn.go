package netlib

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Conn is a TLS connection on a net.Conn. netlib's engine makes the records, and Go's runtime does the I/O. A waiting
// goroutine therefore needs no thread, and deadlines and Close work as on the net.Conn.
type Conn struct {
	net.Conn
	mutex  sync.Mutex // guards engine and closed
	engine *TLSEngine
	closed bool
	// Several goroutines may read, or write.
	reading, writing, sending sync.Mutex
	// buffer holds the received bytes; unfed is the part for which the engine had no room.
	buffer, unfed []byte
	// received counts the reads from the net.Conn.
	received int
}

// Client returns a TLS connection to the named server. The first Read or Write makes the handshake.
func Client(conn net.Conn, tls *TLSContext, serverName string) (*Conn, error) {
	engine, err := NewTLSEngineClient(tls, serverName)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn, engine: engine}, nil
}

// Engine returns the engine, for its getters. Do not use the engine during a Read or a Write.
func (c *Conn) Engine() *TLSEngine { return c.engine }

// HandshakeContext makes the handshake until the context ends.
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
		received := c.received
		c.mutex.Unlock()
		// A failed call may have queued an alert.
		if sendErr := c.send(); err == nil && sendErr != nil {
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

// send writes the output of the engine.
func (c *Conn) send() error {
	c.sending.Lock()
	defer c.sending.Unlock()
	buffer := make([]byte, 0)
	for {
		c.mutex.Lock()
		if c.closed {
			c.mutex.Unlock()
			return net.ErrClosed
		}
		pending := c.engine.OutputPending()
		if pending == 0 {
			c.mutex.Unlock()
			return nil
		}
		if cap(buffer) < pending {
			buffer = make([]byte, pending)
		}
		n, err := c.engine.Drain(buffer[:pending])
		c.mutex.Unlock()
		if err != nil {
			return err
		}
		if _, err := c.Conn.Write(buffer[:n]); err != nil {
			return err
		}
	}
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
		c.engine.FeedEof()
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

// Write sends all of data.
func (c *Conn) Write(data []byte) (written int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for written < len(data) || written == 0 {
		err = c.do(func() (status Status, err error) {
			var n int
			n, status, err = c.engine.Write(data[written:])
			written += n
			return status, err
		})
		if err != nil || len(data) == 0 {
			break
		}
	}
	return written, err
}

// Close sends close_notify, if the network takes it at once, and closes the net.Conn.
func (c *Conn) Close() error {
	c.mutex.Lock()
	if c.closed {
		c.mutex.Unlock()
		return net.ErrClosed
	}
	_ = c.engine.Shutdown()
	c.mutex.Unlock()
	_ = c.Conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_ = c.send()
	c.mutex.Lock()
	c.closed = true
	c.engine.Close()
	c.mutex.Unlock()
	return c.Conn.Close()
}
