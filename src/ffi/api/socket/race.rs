//! Racing connections (RFC 8305), by steps in an event loop or in one call.

use std::ffi::{c_char, c_int};
use std::os::fd::IntoRawFd;

use crate::error::Error;
use crate::ffi::api::basics::{netlib_error, netlib_status};
use crate::ffi::api::limit::netlib_limit;
use crate::ffi::api::socket::options::netlib_connect_options;
use crate::ffi::api::socket::resolve::netlib_addresses;
use crate::ffi::args::{arg, arg_bool, arg_mut, arg_port, arg_shared, arg_shared_opt, arg_str};
use crate::ffi::out::{out_fd, outs};
use crate::ffi::strings::{lend_text, read};
use crate::ffi::{Handle, Unique, guard, handle, options as builder};
use crate::socket::connect::Connect;
use crate::socket::connect_options::ConnectOptions;
use crate::status::Status;

/// A connect operation, which races the addresses of a host (RFC 8305, "Happy Eyeballs"). **One call at a time**.
///
/// The addresses alternate between IPv6 and IPv4, beginning with the family of the resolver's first address; within a
/// family, the resolver's order is kept. Each connection attempt starts 250 ms (the attempt delay) after the previous
/// attempt, or immediately if the previous attempt has failed. An attempt continues until it is connected, fails, or
/// has lasted as long as the connect timeout. The first attempt that is connected wins, and all other attempts are
/// closed. So a network that drops IPv6 packets costs a quarter of a second, and a host with one slow address is still
/// reached. netlib tries at most 64 addresses: the first 64 of the order in which the families alternate.
///
/// At most 64 lookup threads run in a process. Further lookups wait in a queue until a thread is free, or until their
/// connect operation ends, for example because its limit has ended. An event loop cannot distinguish a queued lookup
/// from a slow lookup.
///
/// Call `netlib_connect_run`, or call `netlib_connect_step` in an event loop. With the default attempt delay, 63
/// attempts begin within 16 seconds. The following loop needs <poll.h>. Its array `fds` has room for the descriptors of
/// the attempts and for the descriptor of a limit:
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
/// connect operation to try again.
pub struct netlib_connect {
    _private: [u8; 0],
}

impl Handle for netlib_connect {
    type Value = Connect;
    type Ownership = Unique;
}

/// Sets the attempt delay: the time between the starts of two connection attempts of a race, which RFC 8305 calls the
/// Connection Attempt Delay and bounds in section 5. If the most recent attempt fails before the attempt delay has
/// passed, the next attempt starts at once. `netlib_create_connection` ignores the attempt delay, because it tries one
/// address after the other.
///
/// @param seconds 0.01 to 2; the default is 0.25.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_attempt_delay(
    options: *mut netlib_connect_options,
    seconds: f64,
) {
    builder::set(options, "netlib_connect_options_set_attempt_delay", |options: &mut ConnectOptions| {
        options.set_attempt_delay(seconds)
    });
}

/// Makes the application supply the addresses of host names, for event loops that have a resolver. The connect
/// operation then looks up no name and calls no resolve callback, so that no step waits for a resolve callback. Until
/// the application has supplied the addresses, each step returns `NETLIB_WANT_ADDRESSES`. Between these steps, the
/// application runs its resolver and waits for the descriptors that `netlib_connect_wait_fd` returns. The application
/// waits at most for the time that `netlib_connect_wait_seconds` returns, because the limit of the operation, or the
/// total limit of the options, may end the operation before the addresses are found. A host that is an address needs no
/// lookup. Default: 0.
///
/// If `enable` is 1 and the host is a name, `netlib_create_connection` and `netlib_stream_connect` fail with
/// `NETLIB_INVALID_ARGUMENT`. `netlib_connect_run` also fails with this status, unless the addresses have already been
/// supplied. If `enable` is 1 and the source address is a name, all functions that connect to IP addresses fail with
/// `NETLIB_INVALID_ARGUMENT`.
///
/// @param enable 1 if the application supplies the addresses; 0 if a resolver finds the addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_options_set_supply_addresses(
    options: *mut netlib_connect_options,
    enable: i32,
) {
    builder::set(options, "netlib_connect_options_set_supply_addresses", |options: &mut ConnectOptions| {
        options.supplies_addresses = arg_bool!(enable);
        Ok(())
    });
}

/// Makes a connect operation for a host. The operation starts with the first step.
///
/// @param host the host, as for `netlib_create_connection`.
/// @param port the port, 0 to 65535.
/// @return `NETLIB_INVALID_URL` for an invalid host; `NETLIB_INVALID_ARGUMENT` for a port out of range;
///         `NETLIB_INVALID_UTF8`; all that `netlib_connect_options_check` returns.
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

/// Makes a connect operation for addresses that your own resolver has found. netlib races these addresses as it races
/// addresses from the system's resolver. The comment of `netlib_create_unix_connection` names the options that apply to
/// Unix domain sockets in the list.
///
/// @param host the host name for error messages: as for `netlib_create_connection`, but not resolved.
/// @param port the port for addresses whose port is 0, and for error messages: 0 to 65535.
/// @param addresses an address list that is not empty.
/// @return all that `netlib_connect_new` returns; `NETLIB_INVALID_ARGUMENT` also for an empty list.
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

/// Releases a connect operation, at any time. The call closes the descriptors of connection attempts, and abandons a
/// name lookup in progress without waiting for its end. A connection that the operation returned belongs to the caller
/// and stays open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_free(connect: *mut netlib_connect) {
    guard::nothing(|| handle::free(connect));
}

/// Sets the limit that ends a connect operation, and keeps a reference to the limit. The operation obeys the limit from
/// the next step on. Until the operation ends, `netlib_connect_wait_seconds` returns at most the time until the limit's
/// deadline. The limit adds one descriptor to those that `netlib_connect_wait_fd` returns: the added descriptor wakes
/// the event loop when the limit is cancelled, and the next step then ends the operation. A later call replaces the
/// limit. Default: none.
///
/// Each connect operation has its own descriptor for the limit, so that operations that share a limit can be watched by
/// one epoll(7) instance. After fork(2), set the limit again in a child process that continues the operation, because a
/// cancellation wakes only the process that set the limit. A name lookup that was in progress starts again in the first
/// step of the child process.
///
/// @return `NETLIB_IO` if no descriptor can be opened, in which case the previous limit stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_set_limit(
    connect: *mut netlib_connect,
    limit: *const netlib_limit,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || arg_mut!(connect).set_limit(arg_shared_opt!(limit)))
}

/// Advances a connect operation without waiting. The name lookup runs on a separate thread. A resolve callback
/// (`netlib_connect_options_set_resolve_callback`), however, runs during a step, which waits for the callback.
///
/// A step does no harm if no descriptor is ready and the time that `netlib_connect_wait_seconds` returned has not
/// passed. If a step is late by several attempt delays, it starts only one attempt.
///
/// @param fd out: the connected socket, which is blocking, has no timeout, and is closed by exec; -1 on failure, and
///        while no attempt is connected.
/// @param err the same error as from `netlib_create_connection`, with one cause for each attempt, in the order in which
///        the attempts began.
/// @return `NETLIB_OK` when connected; `NETLIB_WANT_WRITE` while the operation is in progress: wait until a descriptor
///         is ready or the time that `netlib_connect_wait_seconds` returns has passed, and step again;
///         `NETLIB_WANT_ADDRESSES` if the options make the application supply the addresses: call
///         `netlib_connect_supply_addresses` or `netlib_connect_supply_error`, and step again; `NETLIB_CLOSED` if an
///         earlier call returned the connection; all failures of `netlib_create_connection`. If all attempts failed,
///         the status is that of the attempt that ended last; a refused address counts as an attempt only if all
///         addresses were refused. After a failure, every later step fails with the same error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_step(
    connect: *mut netlib_connect,
    fd: *mut c_int,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let fd = out_fd!(fd);
        let mut connect = arg_mut!(connect);
        Ok(match connect.step()? {
            None if connect.wants_addresses() => Status::WantAddresses,
            None => Status::WantWrite,
            Some(connected) => {
                fd.set(connected.into_raw_fd());
                Status::Ok
            }
        })
    })
}

/// Supplies the addresses of the host after a step returned `NETLIB_WANT_ADDRESSES`. The next step, which should follow
/// at once, connects to the addresses. The address family and the address policy of the options apply to the addresses.
///
/// @param addresses the addresses in the order of preference, copied. An address with port 0 gets the port of the
///        operation. If the list is empty, the next step fails with `NETLIB_NAME_RESOLUTION`.
/// @return `NETLIB_INVALID_ARGUMENT` if the operation does not wait for addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_supply_addresses(
    connect: *mut netlib_connect,
    addresses: *const netlib_addresses,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let addresses = arg!(addresses);
        arg_mut!(connect).supply(Ok(addresses.as_slice()))
    })
}

/// Supplies the reason why the addresses of the host were not found, after a step returned `NETLIB_WANT_ADDRESSES`. The
/// next step, which should follow at once, ends the operation with the error.
///
/// @param error the error, for example one that `netlib_error_new` made with the status `NETLIB_NAME_RESOLUTION`. As in
///        `netlib_resolve_fn`, `NETLIB_IO` becomes `NETLIB_CONNECT_FAILED`.
/// @return `NETLIB_INVALID_ARGUMENT` if the operation does not wait for addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_supply_error(
    connect: *mut netlib_connect,
    error: *const netlib_error,
    err: *mut *mut netlib_error,
) -> netlib_status {
    guard::status(err, || {
        let error = arg_shared!(error);
        arg_mut!(connect).supply(Err(Error::clone(&error)))
    })
}

/// Steps a connect operation, and waits between steps, until the operation has succeeded or failed.
///
/// @param connect the connect operation, for which steps may already have been made.
/// @param limit a limit, which replaces the limit of the operation. May be NULL: the previous limit, if any, stays.
/// @param fd out: the same socket as from `netlib_connect_step`; -1 on failure.
/// @param err the same error as from `netlib_connect_step`.
/// @return all that `netlib_connect_step` returns, except `NETLIB_WANT_WRITE` and `NETLIB_WANT_ADDRESSES`;
///         `NETLIB_INVALID_ARGUMENT` also if the application must supply the addresses and has not supplied them: the
///         operation can then continue with `netlib_connect_supply_addresses`.
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

/// Returns the number of descriptors to wait for until the next step: those of the attempts in progress, of a name
/// lookup, and of the limit. The number is 0 before the first step and after the operation has ended. A Unix domain
/// socket whose backlog is full adds no descriptor.
///
/// One simple method is correct for every event loop: before each step, and before `netlib_connect_free`, stop watching
/// the descriptors of the previous step; after the step, watch the new descriptors. Event loops such as libuv do not
/// allow a watched descriptor to be closed.
///
/// With epoll and kqueue, you need not register a descriptor again that `netlib_connect_wait_fd` also returned after
/// the previous step: a number that the function returns after two consecutive steps denotes the same open descriptor
/// both times. A descriptor that the function no longer returns stays open until the next step: remove the descriptor
/// from the event loop before that step. No other connect operation uses the same descriptor, not even an operation
/// with the same limit. The step that ends the operation, and `netlib_connect_free`, close all descriptors except the
/// connection, so that epoll and kqueue remove them. The connection keeps its descriptor number and is still watched:
/// remove the connection from the event loop, or change its events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_count(connect: *const netlib_connect) -> usize {
    read(connect, 0, |connect| connect.interests().count())
}

/// Returns a descriptor to wait for; -1 for NULL. Do not read from the descriptor, write to it or close it. Do not
/// query the descriptor's error (`SO_ERROR`), which the system reports only once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_fd(connect: *const netlib_connect, index: usize) -> c_int {
    read(connect, -1, |connect| connect.interests().nth(index).map_or(-1, |interest| interest.fd))
}

/// Returns the event to wait for on a descriptor of `netlib_connect_wait_fd`: `POLLIN` or `POLLOUT` of <poll.h>, which
/// equal Linux's `EPOLLIN` and `EPOLLOUT`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_events(connect: *const netlib_connect, index: usize) -> i32 {
    read(connect, 0, |connect| connect.interests().nth(index).map_or(0, |interest| i32::from(interest.events)))
}

/// Returns the time, in seconds, after which you must make the next step even if no descriptor is ready. When that time
/// has passed, the next attempt starts, an attempt or the limit times out, or a Unix domain socket whose backlog was
/// full is tried again. The result is 0 if the next step should follow at once. The result is `NETLIB_TIMEOUT_NONE` if
/// no timer is needed until the next step, after the operation has ended, and for NULL. Round the time up to the
/// resolution of your event loop's timer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_wait_seconds(connect: *const netlib_connect) -> f64 {
    read(connect, f64::INFINITY, Connect::seconds_to_timer)
}

/// Returns the number of connection attempts so far, each for one address. The index of an attempt is its position in
/// the order in which the attempts began. The function can be called at any time, even after the connect operation has
/// ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_count(connect: *const netlib_connect) -> usize {
    read(connect, 0, |connect| connect.attempts().len())
}

/// Returns the index of the attempt that won the race; -1 while no attempt has won, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_winner(connect: *const netlib_connect) -> i32 {
    read(connect, -1, |connect| connect.winner().and_then(|index| i32::try_from(index).ok()).unwrap_or(-1))
}

/// Returns the address of an attempt as text: "192.0.2.1", "2001:db8::1", "fe80::1%2", the path "/run/socket", the
/// abstract name "@name". In paths and abstract names, an escape such as "\xff" stands for an unprintable byte, and
/// "\\" for a backslash.
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

/// Returns the time at which an attempt began, in seconds since the first step of the connect operation; -1.0 for
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_start(connect: *const netlib_connect, index: usize) -> f64 {
    read(connect, -1.0, |connect| connect.attempts().get(index).map_or(-1.0, |attempt| connect.times(attempt).0))
}

/// Returns the time at which a step found that an attempt had ended, in seconds since the first step of the connect
/// operation; -1.0 while the attempt is in progress, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn netlib_connect_attempt_end(connect: *const netlib_connect, index: usize) -> f64 {
    read(connect, -1.0, |connect| {
        connect.attempts().get(index).and_then(|attempt| connect.times(attempt).1).unwrap_or(-1.0)
    })
}

/// Returns the state of an attempt: `NETLIB_OK` if the attempt won the race; `NETLIB_WANT_WRITE` while the attempt is
/// in progress; `NETLIB_CLOSED` if the attempt was in progress when another attempt won; `NETLIB_CONNECT_FAILED` or
/// `NETLIB_CONNECT_TIMEOUT` if the attempt failed; `NETLIB_ADDRESS_REFUSED` if the address policy of the options
/// refuses the address; `NETLIB_CANCELLED` or `NETLIB_DEADLINE_EXCEEDED` if the limit ended the attempt;
/// `NETLIB_CALLBACK_FAILED` if the address callback failed, for the address of this attempt or of another attempt;
/// `NETLIB_INVALID_ARGUMENT` for an index that is too large; `NETLIB_NULL_ARGUMENT` for NULL.
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
