// A server with Encrypted Client Hello that uses Go's crypto/tls (1.24 or newer). The suite `ech` runs it against
// peer.c.
//
// usage: ech CERTIFICATE KEY MODE SESSIONS
//
//	good        has the key of the list that it prints
//	other       has another key, and sends its own list
//	off         does not support Encrypted Client Hello
//	NAME-retry  like NAME, but sends a HelloRetryRequest, because it accepts P-384 only
//	NAME-1.2    like NAME, with TLS 1.2 only
//
// It prints "list BASE64", "port N", and one line for each session.
package main

import (
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

const public = "localhost"

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "ech:", err)
		os.Exit(1)
	}
}

func vector(bytes []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(bytes))), bytes...)
}

// newKey returns a key of the server, and the ECHConfig (RFC 9849 section 4) for it.
func newKey(id byte) tls.EncryptedClientHelloKey {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	must(err)
	contents := []byte{id, 0, 0x20}
	contents = append(contents, vector(key.PublicKey().Bytes())...)
	// HKDF-SHA256 with each cipher.
	contents = append(contents, vector([]byte{0, 1, 0, 3, 0, 1, 0, 1, 0, 1, 0, 2})...)
	contents = append(contents, 32, byte(len(public)))
	contents = append(contents, public...)
	contents = append(contents, vector(nil)...)
	config := append([]byte{0xfe, 0x0d}, vector(contents)...)
	return tls.EncryptedClientHelloKey{Config: config, PrivateKey: key.Bytes(), SendAsRetry: true}
}

func serve(connection net.Conn, config *tls.Config) {
	defer connection.Close()
	server := tls.Server(connection, config)
	if err := server.Handshake(); err != nil {
		fmt.Println("refused:", err)
		// Reads the peer's last data before closing, because closing with unread data would reset the connection.
		_, _ = io.Copy(io.Discard, connection)
		return
	}
	state := server.ConnectionState()
	n, err := io.Copy(server, server)
	fmt.Printf("session accepted=%t name=%s resumed=%t alpn=%s bytes=%d error=%v\n", state.ECHAccepted, state.ServerName,
		state.DidResume, state.NegotiatedProtocol, n, err)
	_ = server.CloseWrite()
}

func main() {
	if len(os.Args) != 5 {
		must(fmt.Errorf("usage: ech CERTIFICATE KEY MODE SESSIONS"))
	}
	pair, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	must(err)
	sessions, err := strconv.Atoi(os.Args[4])
	must(err)
	mode, how, _ := strings.Cut(os.Args[3], "-")
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if how == "retry" {
		config.CurvePreferences = []tls.CurveID{tls.CurveP384}
	}
	if how == "1.2" {
		config.MaxVersion = tls.VersionTLS12
	}
	shown, own := newKey(1), newKey(2)
	switch mode {
	case "good":
		config.EncryptedClientHelloKeys = []tls.EncryptedClientHelloKey{shown}
	case "other":
		config.EncryptedClientHelloKeys = []tls.EncryptedClientHelloKey{own}
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	must(err)
	fmt.Println("list", base64.StdEncoding.EncodeToString(vector(shown.Config)))
	fmt.Println("port", listener.Addr().(*net.TCPAddr).Port)
	for range sessions {
		connection, err := listener.Accept()
		must(err)
		serve(connection, config)
	}
}
