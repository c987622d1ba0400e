package netlib

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// Attempts is the loop over the attempts of one request:
//
//	attempts := netlib.NewAttempts(netlib.RetryRecommended(), "GET", url, headers, limit)
//	for {
//		response, err := send(attempts) // uses attempts.Method, attempts.URL and attempts.Headers
//		again, err := attempts.Decide(response, err)
//		if err != nil {
//			return err
//		}
//		if !again {
//			break
//		}
//	}
type Attempts struct {
	Retry   *Retry
	Method  string
	URL     *URL
	Headers *Headers
	// Limit bounds the waits between the attempts; nil: no limit.
	Limit *Limit
	// Decision is the last decision; nil before the first one, and after a decision that failed.
	Decision *Decision
}

// NewAttempts starts the loop with the first request. headers and limit may be nil.
func NewAttempts(retry *Retry, method string, url *URL, headers *Headers, limit *Limit) *Attempts {
	return &Attempts{Retry: retry, Method: method, URL: url, Headers: headers, Limit: limit}
}

// Decide takes the result of an attempt, a response or an error. Returns true after the wait for the next attempt, and
// false if the response is the result. Returns an error if the request has failed for good.
func (a *Attempts) Decide(response *Response, failure error) (bool, error) {
	cause, err := asError(failure)
	if err != nil {
		return false, err
	}
	a.Decision = nil
	decision, err := a.Retry.Decide(a.Method, a.URL, response, cause, a.Limit)
	if err != nil {
		return false, err
	}
	a.Decision = decision
	if decision.Action() == ActionReturnResponse {
		return false, nil
	}
	if a.Headers != nil {
		if a.Headers, err = decision.Headers(a.Headers); err != nil {
			return false, err
		}
	}
	a.Retry, a.URL, a.Method = decision.Retry(), decision.URL(), decision.Method()
	if err := decision.Sleep(a.Limit); err != nil {
		return false, err
	}
	return true, nil
}

// asError returns the netlib error in the chain of an error, or makes one that carries the error of Go.
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

// LimitFromContext returns a limit that ends with the context. Call stop when the limit is no longer used.
func LimitFromContext(ctx context.Context) (limit *Limit, stop func(), err error) {
	seconds := TimeoutNone()
	if deadline, ok := ctx.Deadline(); ok {
		seconds = time.Until(deadline).Seconds()
		if seconds < 0 {
			seconds = 0
		}
	}
	if limit, err = NewLimit(seconds, nil); err != nil {
		return nil, nil, err
	}
	stopped, cancelled := make(chan struct{}), limit.Clone()
	go func() {
		defer cancelled.Close()
		select {
		case <-ctx.Done():
			cancelled.Cancel()
		case <-stopped:
		}
	}()
	return limit, func() { close(stopped) }, nil
}
