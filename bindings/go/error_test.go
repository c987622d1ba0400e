package netlib

import (
	"net/http"
	"strings"
	"testing"
)

func TestMessagesAndAdviceNameTheFunctionsOfThePackage(t *testing.T) {
	server := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, untrusted := client(t, NewTLSOptions().EmbeddedTrust(true)).Get(local(server))
	_, refused := NewTLSContext(NewTLSOptions().Ciphers("nonsense"))
	_, version := NewTLSContext(NewTLSOptions().MinimumVersion(7))
	unknown := must(NewError(StatusProtocol, "a", NewErrorOptions().Cause(must(NewError(StatusProtocol, "netlib_unknown of netlib_url_free", nil)))))
	for _, row := range []struct {
		name     string
		failure  error
		expected string
	}{
		{"advice", untrusted, "TLSOptions.AddCAFile"},
		{"message of a setter", refused, "TLSOptions.Ciphers: "},
		{"message with a type", version, "TLSVersion"},
		{"unknown name", unknown, "netlib_unknown of URL.Close"},
	} {
		report := Report(row.failure)
		t.Log(report)
		if !strings.Contains(report, row.expected) || strings.Contains(strings.ReplaceAll(report, "netlib_unknown", ""), "netlib_") {
			t.Errorf("%s: %s", row.name, report)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
