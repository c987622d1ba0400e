package netlib

import (
	"fmt"
	"testing"
)

func parsed(t testing.TB, text string) *URL {
	url, err := ParseURL(text)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func TestURLsAreEqualIfTheirTextIsEqual(t *testing.T) {
	for _, row := range []struct {
		one, other string
		expected   bool
	}{
		{"http://a/b", "HTTP://A/b", true},
		{"http://a/%c3", "http://a/%C3", true},
		{"http://a/", "http://a/?", false},
		{"http://u:p@a/", "http://u:q@a/", false},
	} {
		if found := parsed(t, row.one).Equal(parsed(t, row.other)); found != row.expected {
			t.Errorf("%s and %s: %v", row.one, row.other, found)
		}
	}
	var absent *URL
	url := parsed(t, "http://a/")
	if absent.Equal(url) || url.Equal(absent) || !absent.Equal(nil) {
		t.Error("a missing URL equals only a missing URL")
	}
}

func TestAURLIsFormatted(t *testing.T) {
	url := parsed(t, "http://user:secret@a/b?q")
	for format, expected := range map[string]string{
		"%v":  "http://user:secret@a/b?q",
		"%+v": "http://user:secret@a/b?q",
		"%s":  "http://user:secret@a/b?q",
		"%#v": `netlib.ParseURL("http://***@a/b?***")`,
	} {
		if found := fmt.Sprintf(format, url); found != expected {
			t.Errorf("%s: %s, not %s", format, found, expected)
		}
	}
}
