package netlib

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// documentation returns the documentation of the package, as go doc shows it.
func documentation(t testing.TB) *doc.Package {
	files := token.NewFileSet()
	isSource := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
	packages, err := parser.ParseDir(files, ".", isSource, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var sources []*ast.File
	for _, file := range packages["netlib"].Files {
		sources = append(sources, file)
	}
	found, err := doc.NewFromFiles(files, sources, "netlib.example/netlib")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// comments returns the comment of each public item, and of each value of a group of constants.
func comments(found *doc.Package) map[string]string {
	all := map[string]string{"netlib": found.Doc}
	values := func(groups []*doc.Value) {
		for _, group := range groups {
			for _, spec := range group.Decl.Specs {
				value := spec.(*ast.ValueSpec)
				for _, name := range value.Names {
					all[name.Name] = group.Doc + value.Doc.Text()
				}
			}
		}
	}
	functions := func(prefix string, list []*doc.Func) {
		for _, function := range list {
			all[prefix+function.Name] = function.Doc
		}
	}
	values(found.Consts)
	functions("", found.Funcs)
	for _, item := range found.Types {
		all[item.Name] = item.Doc
		values(item.Consts)
		functions("", item.Funcs)
		functions(item.Name+".", item.Methods)
	}
	return all
}

func TestTheDocumentationNamesOnlyWhatThePackageHas(t *testing.T) {
	all := comments(documentation(t))
	link := regexp.MustCompile(`\[([A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	ofC := regexp.MustCompile(`\b(netlib|NETLIB)_\w+|\bNULL\b|ctx|` + "`")
	// The names of statuses, as text, are those of C.
	ofC.Longest()
	for name, text := range all {
		if strings.TrimSpace(text) == "" {
			t.Errorf("%s has no comment", name)
		}
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if _, ok := all[found[1]]; !ok {
				t.Errorf("the comment of %s mentions %s, which does not exist", name, found[1])
			}
		}
		if found := ofC.FindString(strings.ReplaceAll(text, `"NETLIB_`, "")); found != "" {
			t.Errorf("the comment of %s mentions %s", name, found)
		}
	}
	if len(all) < 900 {
		t.Errorf("%d comments", len(all))
	}
}

func TestACommentHasTheParametersTheResultsAndTheStatuses(t *testing.T) {
	all := comments(documentation(t))
	for name, expected := range map[string]string{
		"NewStreamFD": "NewStreamFD makes a plain stream on a connected descriptor.",
		"Stream.Read": "\nWaits if the stream is blocking. The stream's limit and timeouts end the wait.\n",
		"ChunkEncode": "\nResults:\n  - chunk: the bytes to send, inside buf.\n\n" +
			"Returns [StatusInvalidArgument] if len(buf) is too small.\n",
		"TLSOptions.AddCRLFile": "\nParameters:\n  - path: ",
		"Connect":               "Connect: A connect operation, which races the addresses of a host",
		"URL":                   "URL is a URL: scheme, userinfo, host,",
		"AddressClassLoopback":  "The local machine: 127.0.0.0/8, ::1.\n",
		"StreamReadFunc":        "\nResults:\n  - n: the number of bytes stored in buf, at most len(buf);",
	} {
		if !strings.Contains(all[name], expected) {
			t.Errorf("%s: %q", name, all[name])
		}
	}
}
