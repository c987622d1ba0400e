package netlib

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Do makes one attempt with an HTTP client of Go, whose CheckRedirect must return http.ErrUseLastResponse: netlib
// decides about redirects. body returns the body from its start, once for each attempt that sends the body, because the
// client may still read the body of the last attempt; body may be nil. If the response is the result, Do calls use with
// it, and returns false. Returns true after the wait for the next attempt.
func (h *Attempts) Do(ctx context.Context, client *http.Client, body func() (io.Reader, error), use func(*http.Response) error) (bool, error) {
	var reader io.Reader
	if body != nil && h.SendsBody() {
		var err error
		if reader, err = body(); err != nil {
			return false, err
		}
	}
	method := h.Method()
	request, err := http.NewRequestWithContext(ctx, method, h.URL().String(), reader)
	if err != nil {
		return false, err
	}
	headers := h.Headers()
	for at := 0; at < headers.Count(); at++ {
		request.Header.Add(headers.Name(at), headers.Value(at))
	}
	response, failure := client.Do(request)
	var head *Response
	if failure == nil {
		defer response.Body.Close()
		if head, err = responseHead(method, response); err != nil {
			return false, err
		}
	}
	status, err := h.Next(head, failure)
	if err != nil || status == StatusSendAgain {
		return err == nil, err
	}
	return false, use(response)
}

// responseHead describes a response of Go's client for the retry policy.
func responseHead(method string, response *http.Response) (*Response, error) {
	var fields []HeaderField
	for name, values := range response.Header {
		for _, value := range values {
			fields = append(fields, HeaderField{Name: name, Value: value})
		}
	}
	headers, err := NewHeaders(fields)
	if err != nil {
		return nil, err
	}
	return NewResponse(method, int32(response.StatusCode), headers)
}

// Report returns the message of an error. If the error contains an *Error, its causes and its advice follow.
func Report(failure error) string {
	var found *Error
	if errors.As(failure, &found) {
		return found.Report()
	}
	return failure.Error()
}
