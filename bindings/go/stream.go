package netlib

// #include "shim.h"
import "C"

import (
	"runtime"
	"syscall"
)

// Close frees the stream, and its descriptor if the stream owns one. Like the Close of a [net.Conn], it ends the
// calls of other goroutines on the stream: they return an error for which errors.Is(err, net.ErrClosed) is true, as
// all later calls do that return an error. To end the calls, Close shuts down the descriptor with shutdown(2);
// without a call in progress, a descriptor that the stream borrows stays unchanged. A call on a stream with
// callbacks ends when the callback returns.
//
// Close tells the peer nothing: see [Stream.Shutdown]. The second Close returns an error for which
// errors.Is(err, net.ErrClosed) is true.
func (h *Stream) Close() error {
	if h == nil {
		return nil
	}
	ptr, err := h.use()
	if err != nil {
		return err
	}
	// This call counts as a use, so that the descriptor stays open until shutdown(2) has returned.
	defer h.leave()
	runtime.SetFinalizer(h, nil)
	fd := int(C.netlib_stream_fd(ptr))
	switch calls := h.mark(); {
	case calls < 0:
		return closedError("Stream")
	case calls > 1 && fd >= 0:
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
	return nil
}

// ended returns the error of a call on the stream. If Close has ended the call, this is not the error of netlib.
func (h *Stream) ended(status C.netlib_status, err error) error {
	_, isNetlib := err.(*Error)
	if (isNetlib || Status(status) == StatusEndOfStream) && h.isClosed() {
		return closedError("Stream")
	}
	return err
}
