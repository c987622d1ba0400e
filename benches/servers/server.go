// The Go server of the table `servers`.
//
// usage: server ADDRESS CERTIFICATE KEY DIRECTORY
package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	server := http.Server{
		Addr:     os.Args[1],
		Handler:  http.FileServer(http.Dir(os.Args[4])),
		ErrorLog: log.New(io.Discard, "", 0), // the benchmark's first connection ends without a handshake
	}
	log.Fatal(server.ListenAndServeTLS(os.Args[2], os.Args[3]))
}
