//! Racing connects (RFC 8305), by steps for an event loop or in one call.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::api::socket::resolve::netlib_addresses;
use crate::ffi::args::{arg, arg_mut, arg_port, arg_shared_opt, arg_str};
use crate::ffi::out::{out_fd, outs};
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Handle, Unique, guard, handle, options as builder};
use crate::socket::connect::Connect;
use crate::socket::connect_options::ConnectOptions;
use crate::status::Status;

/// A connect that races the addresses of a host (RFC 8305, "Happy Eyeballs"). **Single**.
///
/// The addresses alternate between IPv6 and IPv4, beginning with the family that the resolver put first; within a
/// family, the resolver's order is kept. Each attempt starts an attempt delay (250 ms) after the previous one, or at
/// once if the previous one has failed. An attempt continues until it is connected, fails, or its own connect timeout
/// passes. The first attempt that connects wins, and all others are closed. So a network that drops IPv6 costs a
/// quarter of a second, and a host with one slow address is still reached. Only the first 64 addresses in this order
/// are tried.
///
/// At most 64 lookups run at once in a process. Further lookups wait in a queue until their limit ends. To an event
/// loop, a queued lookup looks like a slow lookup.
///
/// Call `netlib_connect_run`, or call `netlib_connect_step` in an event loop. This loop has room for a limit and 63
/// attempts, which begin within 16 seconds:
///
///     while ((status = netlib_connect_step(connect, &fd, &err)) == NETLIB_WANT_WRITE) {
///         struct pollfd fds[64];
///         nfds_t count = 0;
///         for (; count < netlib_connect_wait_count(connect) && count < 64; count++) {
///             fds[count].fd = netlib_connect_wait_fd(connect, count);
///             fds[count].events = (short)netlib_connect_wait_events(connect, count);
///         }
///         double seconds = netlib_connect_wait_seconds(connect);
///         poll(fds, count, seconds < 60 ? (int)(seconds * 1000) + 1 : 60000);
///     }
///     if (status == NETLIB_OK) use(fd);
///
/// Every step checks every attempt, so it does not matter which descriptor was ready. A failure is final; make a new
/// connect to try again.
pub struct netlib_connect {
    _private: [u8; 0],
}

impl Handle for netlib_connect {
    type Value = Connect;
    type Ownership = Unique;
}

/// Sets the time between the starts of two attempts of a race: the Connection Attempt Delay of RFC 8305, with the
/// bounds of its section 5. After an attempt that fails sooner, the next one starts at once. `netlib_create_connection`
/// does not race and ignores it.
///
/// @param seconds 0.01 to 2; 0.25 is the default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_attempt_delay(
    options: *mut netlib_connect_options,
    seconds: f64,
) {
    builder::set(options, "netlib_connect_options_set_attempt_delay", |options: &mut ConnectOptions| {
        options.set_attempt_delay(seconds)
    });
}

/// Makes a connect to a host. Nothing starts before the first step.
///
/// @param host as for `netlib_create_connection`.
/// @param port 0 to 65535.
/// @return `NETLIB_INVALID_URL` for an invalid host; `NETLIB_INVALID_ARGUMENT` for a port or an option out of range;
///         `NETLIB_UNSUPPORTED` for an option that this system does not have; `NETLIB_INVALID_UTF8`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_new(
    host: *const c_char,
    port: i32,
    options: *const netlib_connect_options,
    connect: *mut *mut netlib_connect,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let connect = outs!(connect);
        let options = builder::shared::<_, ConnectOptions>(options)?;
        connect.give(Box::new(Connect::new(arg_str!(host), arg_port!(port), options)?));
        Ok(())
    })
}

/// Makes a connect to addresses that your own resolver has found. They race like addresses from the system's resolver.
/// For Unix domain sockets in the list, `netlib_create_unix_connection` lists the options that apply.
///
/// @param host the name of the host, for messages: as for `netlib_create_connection`, but not resolved.
/// @param port 0 to 65535: for addresses without a port, and for messages.
/// @param addresses at least one.
/// @return as `netlib_connect_new`; `NETLIB_INVALID_ARGUMENT` also for an empty list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_new_addresses(
    host: *const c_char,
    port: i32,
    addresses: *const netlib_addresses,
    options: *const netlib_connect_options,
    connect: *mut *mut netlib_connect,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let connect = outs!(connect);
        let options = builder::shared::<_, ConnectOptions>(options)?;
        let (host, port, addresses) = (arg_str!(host), arg_port!(port), arg!(addresses));
        connect.give(Box::new(Connect::to_addresses(host, port, addresses.as_slice(), options)?));
        Ok(())
    })
}

/// Releases a connect at any time. It closes the connect's open descriptors and abandons a lookup in progress without
/// waiting for it. A connection that the connect returned belongs to the caller and stays open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_free(connect: *mut netlib_connect) {
    guard::nothing(|| handle::free(connect));
}

/// Sets the limit that ends a connect, from the next step on, and keeps a reference to it.
/// `netlib_connect_wait_seconds` includes its deadline. A cancellation wakes the event loop through one more descriptor
/// to wait for, and the next step then ends the connect. A later call replaces the limit. Default: none.
///
/// Each connect has its own descriptor for the limit, so that connects that share a limit can be in the same epoll(7).
/// After fork(2), set the limit again in a child that continues the connect, because a cancellation wakes only the
/// process that set the limit. A lookup in progress starts again in the child's first step.
///
/// @return `NETLIB_IO` if no descriptor can be opened; the previous limit then stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_set_limit(
    connect: *mut netlib_connect,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(connect).set_limit(arg_shared_opt!(limit)))
}

/// Advances the connect without waiting. The name is looked up on a separate thread, unless
/// `netlib_connect_options_set_resolve_callback` gave a callback: a step waits for the callback.
///
/// It is harmless to call a step early. A late step starts one attempt, not several.
///
/// @param fd out: the connected socket, blocking, without a timeout and closed by exec; -1 on failure, and while no
///        attempt is connected.
/// @param err as for `netlib_create_connection`, with one cause for each attempt, in the order in which the attempts
///        began.
/// @return `NETLIB_OK` when connected; `NETLIB_WANT_WRITE`: wait for the descriptors or for the timer, and step again;
///         `NETLIB_CLOSED` if an earlier call returned the connection; all failures of `netlib_create_connection`. If
///         all attempts failed, the failure is that of the attempt that ended last, and every later step returns it
///         again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_step(
    connect: *mut netlib_connect,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        Ok(match arg_mut!(connect).step()? {
            None => Status::WantWrite,
            Some(connected) => {
                fd.set(connected.into_raw_fd());
                Status::Ok
            }
        })
    })
}

/// Steps and waits until the connect has succeeded or failed.
///
/// @param connect the connect, which may have had steps.
/// @param limit set as by `netlib_connect_set_limit`. May be NULL: the previous limit, if any, stays.
/// @param fd out: as from `netlib_connect_step`; -1 on failure.
/// @param err as from `netlib_connect_step`.
/// @return as `netlib_connect_step`, but never `NETLIB_WANT_WRITE`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_run(
    connect: *mut netlib_connect,
    limit: *const netlib_limit,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        fd.set(arg_mut!(connect).run(arg_shared_opt!(limit))?.into_raw_fd());
        Ok(())
    })
}

/// Returns the number of descriptors to wait for until the next step: those of the attempts under way, of a lookup, and
/// of the limit. The number is 0 before the first step, after the end, and for a Unix domain socket whose backlog is
/// full.
///
/// The simple way, which is correct for every event loop: before each step, and before `netlib_connect_free`, stop
/// watching the descriptors of the last step; after the step, watch the new ones. Loops such as libuv's require this,
/// because a watched descriptor must not be closed.
///
/// With epoll and kqueue, descriptors that stay need no change. A number that is listed after two steps in a row is the
/// same descriptor. A descriptor that is no longer listed stays open until the next step: remove it before that step.
/// No other connect uses the descriptor, not even a connect with the same limit. The last step, and
/// `netlib_connect_free`, close all descriptors except the connection, so that epoll and kqueue forget them. The
/// connection keeps its number and is still watched: remove it from the event loop, or change its events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_count(connect: *const netlib_connect) -> usize {
    read(connect, 0, |connect| connect.interests().count())
}

/// Returns a descriptor to wait for; -1 for NULL. Do not read from it, write to it or close it. Do not query its error
/// (`SO_ERROR`), which the system reports only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_fd(connect: *const netlib_connect, index: usize) -> c_int {
    read(connect, -1, |connect| connect.interests().nth(index).map_or(-1, |interest| interest.fd))
}

/// Returns the event to wait for on a descriptor: `POLLIN` or `POLLOUT` of poll(2), which equal Linux's `EPOLLIN` and
/// `EPOLLOUT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_events(connect: *const netlib_connect, index: usize) -> i32 {
    read(connect, 0, |connect| connect.interests().nth(index).map_or(0, |interest| i32::from(interest.events)))
}

/// Returns the longest time to wait before the next step, in seconds, even if no descriptor is ready. When it has
/// passed, the next attempt starts, an attempt or the limit times out, or a Unix domain socket whose backlog was full
/// is tried again. 0 if a step is due now; `NETLIB_TIMEOUT_NONE` if no time is set and for NULL: step when a descriptor
/// is ready, or never if the connect has ended. Round the time up to the resolution of your loop's timer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_seconds(connect: *const netlib_connect) -> f64 {
    read(connect, f64::INFINITY, Connect::seconds_to_timer)
}

/// Returns the number of addresses tried so far. Attempts are in the order in which they began. This can be called at
/// any time, even after the connect has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_count(connect: *const netlib_connect) -> usize {
    read(connect, 0, |connect| connect.attempts().len())
}

/// Returns the index of the attempt that won; -1 while there is none and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_winner(connect: *const netlib_connect) -> i32 {
    read(connect, -1, |connect| connect.winner().and_then(|index| i32::try_from(index).ok()).unwrap_or(-1))
}

/// Returns the address of an attempt as text: "192.0.2.1", "2001:db8::1", "fe80::1%2", the path "/run/socket", the
/// abstract name "@name". In paths and abstract names, "\xff" stands for a byte that cannot be shown, and "\\" for a
/// backslash.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_address(
    connect: *const netlib_connect,
    index: usize,
    len: *mut usize,
) -> *const c_char {
    lend_text(connect, len, |connect| Some(connect.attempts().get(index)?.text()))
}

/// Returns the port of an attempt, 0 to 65535; -1 for a Unix domain socket and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_port(connect: *const netlib_connect, index: usize) -> i32 {
    read(connect, -1, |connect| {
        connect.attempts().get(index).and_then(|attempt| attempt.port()).map_or(-1, i32::from)
    })
}

/// Returns the time at which an attempt began, in seconds since the first step of the connect; -1.0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_start(connect: *const netlib_connect, index: usize) -> f64 {
    read(connect, -1.0, |connect| connect.attempts().get(index).map_or(-1.0, |attempt| connect.times(attempt).0))
}

/// Returns the time at which the end of an attempt was noticed, in seconds since the first step of the connect; -1.0
/// while it is under way and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_end(connect: *const netlib_connect, index: usize) -> f64 {
    read(connect, -1.0, |connect| {
        connect.attempts().get(index).and_then(|attempt| connect.times(attempt).1).unwrap_or(-1.0)
    })
}

/// Returns the state of an attempt: `NETLIB_OK`: it won; `NETLIB_WANT_WRITE`: it is under way; `NETLIB_CLOSED`: it was
/// under way when another won; `NETLIB_CONNECT_FAILED` or `NETLIB_CONNECT_TIMEOUT`: it failed;
/// `NETLIB_ADDRESS_REFUSED`: the policy of the options forbids the address; `NETLIB_CANCELLED` or
/// `NETLIB_DEADLINE_EXCEEDED`: the limit ended it; `NETLIB_CALLBACK_FAILED`: the address callback failed, for this
/// address or another one; `NETLIB_INVALID_ARGUMENT` beyond the count; `NETLIB_NULL_ARGUMENT` for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_status(
    connect: *const netlib_connect,
    index: usize,
) -> netlib_status {
    read(connect, Status::NullArgument as i32, |connect| {
        connect.attempts().get(index).map_or(Status::InvalidArgument, |attempt| attempt.status()) as i32
    })
}

/// Returns the errno of a failed attempt, such as `ECONNREFUSED`; 0 if no system call failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_errno(connect: *const netlib_connect, index: usize) -> i32 {
    read(connect, 0, |connect| connect.attempts().get(index).map_or(0, |attempt| attempt.errno()))
}
