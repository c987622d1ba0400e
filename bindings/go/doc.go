// Package netlib contains the hard small parts of an HTTP client: TLS connections with exact error messages and pins,
// retries and redirects, time limits, connection attempts that race the addresses of a host, URLs, and the heads and
// bodies of HTTP/1.1 messages. It calls the C library netlib through cgo.
//
// # HTTP
//
// [NewTransport] makes an [net/http.Transport], which connects and makes TLS connections with netlib. [Attempts]
// decides about retries and redirects; [Attempts.Do] makes one attempt with an HTTP client of Go. The example of the
// package shows both.
//
// # Connections
//
// [Conn] is a TLS connection on a [net.Conn]; a waiting goroutine needs no thread. [Stream] is a connection that
// waits in C, so that each waiting call needs a thread. [TLSEngine] does no I/O.
//
// # Objects
//
// Most types contain an object of C, which the method Close frees. The garbage collector frees an object that the
// program does not close, but possibly late, because it does not count the memory of C. Close streams and contexts
// yourself. A method of a closed object that returns an error returns one for which errors.Is(err, net.ErrClosed) is
// true; any other method panics.
//
// Goroutines may share an object whose type is immutable or thread-safe: the comment of each type states how
// threads, and so goroutines, may use it.
//
// The setters of a type such as [TLSOptions] return the options, so that calls can be chained. A value that a setter
// refuses makes the functions fail that use the options.
//
// Absent text is "". Where absent text differs from empty text, there is a second method, such as [URL.HasQuery], or
// the parameter is a *string: nil is absent, and [Text] makes such a pointer.
//
// # Errors and time limits
//
// An error of netlib is an [*Error], with a status, a message, advice and causes. A [Status] is also an error:
// errors.Is(err, netlib.StatusHostnameMismatch). [Report] returns the text for logs. A function that may stop before
// it has a result returns a Status before the error, for example [StatusWantRead] or [StatusEndOfStream]; the Status
// is [StatusOK] if the call has a result.
//
// A function that waits takes a [Limit], or obeys the limit of its object. [LimitFromContext] makes a limit that ends
// with a [context.Context]. The time for no limit is [TimeoutNone].
package netlib
