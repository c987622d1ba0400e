package netlib

// #include "shim.h"
import "C"

import (
	"fmt"
	"io"
	"net"
	"runtime/cgo"
	"strings"
	"sync/atomic"
	"unsafe"
)

// init refuses a library that may have another ABI: before version 1.0, each minor version may change it.
func init() {
	if err := CheckVersion(generatedMinor); err != nil {
		panic(err)
	}
}

// LibraryVersion returns MAJOR.MINOR of the loaded library.
func LibraryVersion() string {
	return majorMinor(goString(C.netlib_version(), noLength))
}

// CheckVersion returns an error unless MAJOR.MINOR of the loaded library is the wanted one.
func CheckVersion(wanted string) error {
	if found := LibraryVersion(); found != wanted {
		return fmt.Errorf("netlib: the package needs version %s of libnetlib, but the version %s is loaded", wanted, found)
	}
	return nil
}

func majorMinor(version string) string {
	return version[:strings.LastIndexByte(version, '.')]
}

// closedError is the error of a call that uses a closed object of the named type. errors.Is(err, net.ErrClosed) is
// true.
type closedError string

func (e closedError) Error() string { return "netlib: the " + string(e) + " is closed" }

func (e closedError) Is(target error) bool { return target == net.ErrClosed }

// closable is an object that may be closed.
type closable interface{ isClosed() bool }

// usage counts the calls that use an object. An object that is closed during a call is freed by the last such call.
type usage struct {
	state int64 // the number of calls; plus closed
	// isBorrowed is true for an object that others own. The lenders live as long as this object.
	isBorrowed bool
	lenders    []closable
}

const closed = int64(1) << 32

func (u *usage) isClosed() bool {
	if atomic.LoadInt64(&u.state) >= closed {
		return true
	}
	for _, lender := range u.lenders {
		if lender.isClosed() {
			return true
		}
	}
	return false
}

// begin counts a call. Returns false if the object is closed.
func (u *usage) begin() bool {
	for !u.isClosed() {
		state := atomic.LoadInt64(&u.state)
		if state < closed && atomic.CompareAndSwapInt64(&u.state, state, state+1) {
			return true
		}
	}
	return false
}

// end returns true if the object must be freed: it was closed, and this was its last call.
func (u *usage) end() bool {
	return atomic.AddInt64(&u.state, -1) == closed && !u.isBorrowed
}

// close returns true if the object must be freed: this is the first close, and no call uses the object.
func (u *usage) close() bool { return u.mark() == 0 && !u.isBorrowed }

// mark closes the object for later calls. Returns the number of calls in progress, or -1 if the object was closed.
func (u *usage) mark() int64 {
	for {
		state := atomic.LoadInt64(&u.state)
		if state >= closed {
			return -1
		}
		if atomic.CompareAndSwapInt64(&u.state, state, state|closed) {
			return state
		}
	}
}

// HeaderField is a header field.
type HeaderField struct{ Name, Value string }

// Texts and arrays.

// noLength is the length of text that ends at its NUL.
const noLength = C.size_t(^uintptr(0))

func goString(text *C.char, length C.size_t) string {
	if text == nil {
		return ""
	}
	if length == noLength {
		return C.GoString(text)
	}
	return C.GoStringN(text, C.int(length))
}

func goBytes(data unsafe.Pointer, length C.size_t) []byte {
	if data == nil {
		return nil
	}
	return C.GoBytes(data, C.int(length))
}

func goStrings(texts **C.char, count C.size_t) []string {
	found := make([]string, 0, count)
	for _, text := range unsafe.Slice(texts, int(count)) {
		found = append(found, C.GoString(text))
	}
	return found
}

func goInts(numbers *C.int32_t, count C.size_t) []int32 {
	found := make([]int32, 0, count)
	for _, number := range unsafe.Slice(numbers, int(count)) {
		found = append(found, int32(number))
	}
	return found
}

// empty is the address of text without bytes: netlib takes NULL for absent text.
var empty [1]byte

// stringData returns the bytes of a string, which C only reads, and only during the call.
func stringData(text string) *C.char {
	if text == "" {
		return (*C.char)(unsafe.Pointer(&empty[0]))
	}
	return *(**C.char)(unsafe.Pointer(&text))
}

func optionalData(text *string) (*C.char, C.size_t) {
	if text == nil {
		return nil, 0
	}
	return stringData(*text), C.size_t(len(*text))
}

func bytesData(data []byte) unsafe.Pointer {
	if len(data) == 0 {
		return unsafe.Pointer(&empty[0])
	}
	return unsafe.Pointer(&data[0])
}

// cText copies text to C. C would see the text only up to its first NUL, so text with a NUL is refused.
func cText(name, text string) (*C.char, func(), error) {
	if at := strings.IndexByte(text, 0); at >= 0 {
		return nil, nil, refusedText(name, at)
	}
	copied := C.CString(text)
	return copied, func() { C.free(unsafe.Pointer(copied)) }, nil
}

func optionalText(name string, text *string) (*C.char, func(), error) {
	if text == nil {
		return nil, func() {}, nil
	}
	return cText(name, *text)
}

// allocations frees memory of C.
type allocations []unsafe.Pointer

func (all *allocations) keep(memory unsafe.Pointer) unsafe.Pointer {
	*all = append(*all, memory)
	return memory
}

func (all *allocations) free() {
	for _, memory := range *all {
		C.free(memory)
	}
}

func (all *allocations) text(name, text string) (*C.char, error) {
	copied, _, err := cText(name, text)
	all.keep(unsafe.Pointer(copied))
	return copied, err
}

func (all *allocations) array(count int, size uintptr) unsafe.Pointer {
	return all.keep(C.calloc(C.size_t(count+1), C.size_t(size)))
}

func textArray(name string, texts []string) (**C.char, func(), error) {
	if texts == nil {
		return nil, func() {}, nil
	}
	var all allocations
	array := (**C.char)(all.array(len(texts), unsafe.Sizeof((*C.char)(nil))))
	for at, text := range texts {
		copied, err := all.text(name, text)
		if err != nil {
			all.free()
			return nil, nil, err
		}
		unsafe.Slice(array, len(texts))[at] = copied
	}
	return array, func() { all.free() }, nil
}

func fieldArray(name string, fields []HeaderField) (*C.netlib_header_field, func(), error) {
	var all allocations
	array := (*C.netlib_header_field)(all.array(len(fields), unsafe.Sizeof(C.netlib_header_field{})))
	for at, field := range fields {
		fieldName, err := all.text(name, field.Name)
		if err == nil {
			var value *C.char
			value, err = all.text(name, field.Value)
			unsafe.Slice(array, len(fields))[at] = C.netlib_header_field{name: fieldName, value: value}
		}
		if err != nil {
			all.free()
			return nil, nil, err
		}
	}
	return array, func() { all.free() }, nil
}

func int32Array(_ string, numbers []int32) (*C.int32_t, func(), error) {
	if numbers == nil {
		return nil, func() {}, nil
	}
	if len(numbers) == 0 {
		return (*C.int32_t)(C.calloc(1, 4)), func() {}, nil
	}
	return (*C.int32_t)(unsafe.Pointer(&numbers[0])), func() {}, nil
}

// sliceArray copies the slices, because memory of C must not point to memory of Go.
func sliceArray(_ string, slices [][]byte) (*C.netlib_slice, func(), error) {
	var all allocations
	array := (*C.netlib_slice)(all.array(len(slices), unsafe.Sizeof(C.netlib_slice{})))
	for at, data := range slices {
		copied := all.keep(C.CBytes(data))
		unsafe.Slice(array, len(slices))[at] = C.netlib_slice{data: copied, len: C.size_t(len(data))}
	}
	return array, func() { all.free() }, nil
}

func truth(value bool) C.int32_t {
	if value {
		return 1
	}
	return 0
}

func isPresent(value bool) C.int { return C.int(truth(value)) }

// Callbacks. C holds a number for each Go value, never a Go pointer.

func hold(value interface{}) C.uintptr_t {
	if value == nil {
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(value))
}

func heldBy(ctx C.uintptr_t) *held { return cgo.Handle(ctx).Value().(*held) }

func userData(ctx unsafe.Pointer) interface{} {
	if ctx == nil {
		return nil
	}
	return cgo.Handle(uintptr(ctx)).Value()
}

//export netlibGoFree
func netlibGoFree(ctx C.uintptr_t) { cgo.Handle(ctx).Delete() }

// failed is the result of a callback that returns a status, and has failed.
const failed = C.int32_t(StatusCallbackFailed)

// panicked carries the panic of a callback over the frames of C.
type panicked struct{ value interface{} }

func (p panicked) Error() string { return fmt.Sprint(p.value) }

// invoke calls a callback. Keeps its error or panic for the call that invoked it, and returns `failure` to C.
func invoke(failure C.int32_t, call func() (C.int32_t, error)) (result C.int32_t) {
	defer func() {
		if value := recover(); value != nil {
			C.netlib_go_raise(hold(panicked{value}))
			result = failure
		}
	}()
	result, err := call()
	if err == io.EOF {
		return C.int32_t(StatusEndOfStream)
	}
	if status, ok := err.(Status); ok && status.isProgress() {
		return C.int32_t(status)
	}
	if err != nil {
		C.netlib_go_raise(hold(err))
		return failure
	}
	return result
}

// takeRaised returns the error that a callback raised, and continues a panic.
func takeRaised(raised C.uintptr_t) error {
	if raised == 0 {
		return nil
	}
	handle := cgo.Handle(raised)
	err := handle.Value().(error)
	handle.Delete()
	if p, ok := err.(panicked); ok {
		panic(p.value)
	}
	return err
}

// rethrow continues the panic of a callback. The C function has no status with which it could report an error.
func rethrow(raised C.uintptr_t) {
	if err := takeRaised(raised); err != nil {
		panic(err)
	}
}

// Text returns the address of a copy of text, for arguments that may be absent: nil is absent.
func Text(text string) *string { return &text }
