package netlib

// #cgo CFLAGS: -I${SRCDIR} -Wno-deprecated-declarations
// #cgo LDFLAGS: -L${SRCDIR}/lib -lnetlib -Wl,-rpath,${SRCDIR}/lib
import "C"
