package netlib

import "fmt"

// Equal reports whether two URLs have the same text. As the key of a map, use [URL.String].
func (h *URL) Equal(other *URL) bool {
	if h == nil || other == nil {
		return h == other
	}
	return h.String() == other.String()
}

// GoString returns the URL for the verb %#v, without its password. The verb %v prints the password, as for the URL of
// net/url; see [URL.Redacted].
func (h *URL) GoString() string { return fmt.Sprintf("netlib.ParseURL(%q)", h.Redacted()) }
