package netlib

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"unsafe"
)

// Error returns the text of a status. The statuses are errors, so that errors.Is(err, netlib.StatusHostnameMismatch)
// tests the status of an error.
func (s Status) Error() string { return StatusText(s) }

func (s Status) isProgress() bool { return StatusClass(s) == ClassProgress }

// Error returns the message. An *Error contains the status, the message, the advice and the causes.
func (h *Error) Error() string { return h.Message() }

// Is compares the status with a Status, and with errors of the standard library that mean the same.
func (h *Error) Is(target error) bool {
	switch target {
	case context.Canceled:
		return h.Status() == StatusCancelled
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return h.Timeout()
	}
	return target == h.Status()
}

// Unwrap returns the error of Go that this error carries, or the first cause, or nil.
func (h *Error) Unwrap() error {
	if carried, ok := h.UserData().(error); ok {
		return carried
	}
	if cause := h.Cause(0); cause != nil {
		return cause
	}
	return nil
}

// Timeout is true for the failures of the class ClassTime, except a cancellation. net.Error requires this method.
func (h *Error) Timeout() bool {
	return StatusClass(h.Status()) == ClassTime && h.Status() != StatusCancelled
}

// Temporary is false: net.Error requires this deprecated method, but the retry policy decides about retries.
func (h *Error) Temporary() bool { return false }

// failure returns the error of a call that has failed, or nil. The error of a callback takes precedence.
func failure(status C.netlib_status, cErr *C.netlib_error, raised C.uintptr_t) error {
	if raised != 0 {
		C.netlib_error_free(cErr)
		return takeRaised(raised)
	}
	if status == 0 || Status(status).isProgress() {
		return nil
	}
	return ownError(cErr)
}

var cName = regexp.MustCompile(`(?:enum )?netlib_\w+`)

// withGoNames replaces the names of C functions and types, for example in "to trust it:
// netlib_tls_options_add_ca_file".
func withGoNames(text string) string {
	return cName.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimPrefix(found, "enum ")
		if known := goName(name); known != name {
			return known
		}
		return found
	})
}

// asError returns the netlib error in the chain of an error, or makes one that carries the error of Go. nil stays nil.
func asError(failure error) (*Error, error) {
	if failure == nil {
		return nil, nil
	}
	var found *Error
	if errors.As(failure, &found) {
		return found, nil
	}
	return NewError(statusOf(failure), failure.Error(), NewErrorOptions().UserData(failure))
}

// statusOf classifies an error of Go's network packages for the retry policy.
func statusOf(failure error) Status {
	var operation *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(failure, context.Canceled):
		return StatusCancelled
	case errors.Is(failure, context.DeadlineExceeded):
		return StatusDeadlineExceeded
	case errors.As(failure, &operation) && operation.Op == "dial":
		return StatusConnectFailed
	case errors.As(failure, &timeout) && timeout.Timeout():
		return StatusReadTimeout
	case operation != nil, errors.Is(failure, io.EOF), errors.Is(failure, io.ErrUnexpectedEOF):
		return StatusProtocol
	}
	return StatusApplicationError
}

// refusedText is the error for text with a NUL, because C would see the text only up to its first NUL.
func refusedText(name string, at int) error {
	message := fmt.Sprintf("%s has a NUL at byte %d", name, at)
	var made, cErr *C.netlib_error
	text := C.CString(message)
	defer C.free(unsafe.Pointer(text))
	status := C.netlib_error_new(C.netlib_status(StatusInvalidArgument), text, nil, &made, &cErr)
	if err := failure(status, cErr, 0); err != nil {
		return err
	}
	return ownError(made)
}
