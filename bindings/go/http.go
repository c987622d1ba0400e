package netlib

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Do makes one attempt with an HTTP client of Go, whose CheckRedirect must return http.ErrUseLastResponse: netlib
// decides about redirects. body is rewound for each attempt, and may be nil. If the response is the result, Do calls
// use with it, and returns false. Returns true if another attempt follows.
func (a *Attempts) Do(ctx context.Context, client *http.Client, body io.ReadSeeker, use func(*http.Response) error) (bool, error) {
	var reader io.Reader
	if body != nil {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
		// The client closes a body that can be closed, but later attempts need it.
		reader = io.NopCloser(body)
	}
	request, err := http.NewRequestWithContext(ctx, a.Method, a.URL.ToString(), reader)
	if err != nil {
		return false, err
	}
	for at := 0; a.Headers != nil && at < a.Headers.Count(); at++ {
		request.Header.Add(a.Headers.Name(at), a.Headers.Value(at))
	}
	response, failure := client.Do(request)
	if failure != nil {
		return a.Decide(nil, failure)
	}
	defer response.Body.Close()
	head, err := responseHead(a.Method, response)
	if err != nil {
		return false, err
	}
	again, err := a.Decide(head, nil)
	if err != nil || again {
		return again, err
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
