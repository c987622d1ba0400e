//go:build !go1.27

package netlib

const hasHTTP2 = false
