"""Checks that a real SIGINT ends a wait of netlib in a Python program that calls the library with ctypes.

When a signal arrives, the interpreter only records it, and runs the handler before the next Python code. During
netlib_wait_for_read, the interrupt check of the limit is the only Python code of the thread.

usage: interrupts.py LIBRARY
"""

import ctypes
import os
import signal
import sys
import threading

NONE = float("inf")
INTERRUPTED, CALLBACK_FAILED, TIMED_OUT = 506, 304, 102
CONTINUE, STOP = 1, 2

netlib = ctypes.CDLL(sys.argv[1])
CHECK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))
netlib.netlib_limit_new_interruptible.argtypes = [
    ctypes.c_double, ctypes.c_void_p, CHECK, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
netlib.netlib_wait_for_read.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
netlib.netlib_limit_free.argtypes = [ctypes.c_void_p]
netlib.netlib_limit_free.restype = None

main_thread = threading.get_ident()


def wait(check, timeout, signals):
    """Waits for input that never arrives, while SIGINT arrives again and again. Returns the status of the wait."""
    callback = CHECK(check)
    limit = ctypes.c_void_p()
    status = netlib.netlib_limit_new_interruptible(30.0, None, callback, None, None, ctypes.byref(limit), None)
    assert status == 0, status
    read_end, write_end = os.pipe()
    done = threading.Event()

    def send_signals():
        # Sends SIGINT until the wait has ended, because a signal that arrives before the wait does not interrupt it.
        while signals and not done.wait(0.002):
            signal.pthread_kill(main_thread, signal.SIGINT)

    sender = threading.Thread(target=send_signals)
    sender.start()
    status = netlib.netlib_wait_for_read(read_end, timeout, limit, None)
    done.set()
    sender.join()
    netlib.netlib_limit_free(limit)
    os.close(read_end)
    os.close(write_end)
    return status


def is_interrupted():
    """Returns whether a handler of SIGINT has run since the last call."""
    had, arrived[0] = arrived[0], False
    return had


arrived = [False]
discarded = []  # the types of the exceptions that ctypes discarded


def note_signal(_signal, _frame):
    arrived[0] = True


def raise_in_check(_signal, frame):
    """Raises KeyboardInterrupt, like Python's own handler, but only if the handler interrupts the interrupt check."""
    if frame.f_code is continue_wait.__code__:
        raise KeyboardInterrupt


def stop_if_signalled(_ctx, decision):
    # Python runs the handlers of the signals that have arrived before it runs this line.
    assert threading.get_ident() == main_thread
    decision[0] = STOP if is_interrupted() else CONTINUE


def continue_wait(_ctx, decision):
    decision[0] = CONTINUE


def fail(_ctx, _decision):
    raise RuntimeError


def expect(name, expected, actual):
    if expected != actual:
        sys.exit(f"{name}: expected {expected}, got {actual}")
    print(f"{name}: passed")


def main():
    sys.unraisablehook = lambda unraisable: discarded.append(unraisable.exc_type)
    signal.signal(signal.SIGINT, note_signal)
    expect("a check that finds a SIGINT ends the wait", INTERRUPTED, wait(stop_if_signalled, NONE, True))
    expect("a check that continues does not end the wait", TIMED_OUT, wait(continue_wait, 0.1, True))
    expect("without SIGINT the check does not run", TIMED_OUT, wait(fail, 0.01, False))
    expect("an exception in the check ends the wait", CALLBACK_FAILED, wait(fail, NONE, True))
    signal.signal(signal.SIGINT, raise_in_check)
    expect("KeyboardInterrupt in the check ends the wait", CALLBACK_FAILED, wait(continue_wait, NONE, True))
    expect("ctypes discarded both exceptions", [RuntimeError, KeyboardInterrupt], discarded)


main()
