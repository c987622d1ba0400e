package netlib

// #cgo CFLAGS: -I${SRCDIR} -Wno-deprecated-declarations
// #cgo LDFLAGS: ${SRCDIR}/libnetlib.a -lm -lpthread -ldl
import "C"
