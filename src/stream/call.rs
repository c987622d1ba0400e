//! Holds the state of one public call on a stream: the stream's lock between I/O operations, and the call's roles
//! ([`Role`]) until the call returns.

use std::sync::MutexGuard;
use std::time::Duration;

use super::state::{Core, Role, State, poisoned};
use super::transport::Transport;
use super::wait_policy::{NO_WAITING, Settings, WaitPolicy};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::ThreadId;

/// The interval at which a thread that waits for a role checks its limit.
const ROLE_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// A public call in progress. The call keeps the lock from step to step, because locking costs more than most steps.
/// The transport is only accessible through [`Call::transport`], which releases the lock first.
pub(super) struct Call<'a, P> {
    stream: &'a Core<P>,
    state: Option<MutexGuard<'a, State<P>>>,
    /// The roles that this call holds. Dropping the call releases its roles.
    roles: [bool; Role::COUNT],
}

// Inlining the short functions below saves 300 of the 7,100 instructions of a round trip.
impl<'a, P> Call<'a, P> {
    pub(super) fn new(stream: &'a Core<P>) -> Call<'a, P> {
        Call { stream, state: None, roles: [false; Role::COUNT] }
    }

    /// Begins a public call: copies the stream's settings, and takes `role`.
    pub(super) fn begin(stream: &'a Core<P>, role: Role) -> Result<(Settings, Call<'a, P>)> {
        let (settings, mut call) = Call::begin_without_role(stream)?;
        call.take(role)?;
        Ok((settings, call))
    }

    /// Begins a public call: copies the stream's settings. The settings come first in the pair, so that the caller's
    /// variables are dropped in this order: first the call, which releases the lock, and then the settings. Dropping
    /// the last reference to a limit may run a `ctx_free`, which may call netlib.
    pub(super) fn begin_without_role(stream: &'a Core<P>) -> Result<(Settings, Call<'a, P>)> {
        let mut call = Call::new(stream);
        let settings = call.state_for_caller()?.settings.clone();
        Ok((settings, call))
    }

    /// Returns the locked state; takes the lock if this call does not hold it.
    #[inline(always)]
    pub(super) fn state(&mut self) -> Result<&mut State<P>> {
        if self.state.is_none() {
            self.state = Some(self.stream.lock()?);
        }
        self.state.as_deref_mut().ok_or_else(poisoned)
    }

    /// Returns the locked state for a public call. Fails if another stream uses this stream as its transport, or if the
    /// call comes from a callback of this stream.
    #[inline(always)]
    pub(super) fn state_for_caller(&mut self) -> Result<&mut State<P>> {
        let state = self.state()?;
        state.check_reentry()?;
        Ok(state)
    }

    /// Releases the stream's lock and returns the transport.
    pub(super) fn transport(&mut self) -> &'a Transport {
        self.unlock();
        &self.stream.transport
    }

    /// Returns whether the call can wait until the transport is ready. A call on transport callbacks returns
    /// `NETLIB_WANT_*` instead of waiting.
    pub(super) fn can_wait(&self) -> bool {
        self.stream.transport.can_wait()
    }

    /// Returns whether receiving may block in a system call.
    pub(super) fn may_block(&self) -> bool {
        self.stream.transport.may_block()
    }

    /// Releases the stream's lock, which must not be held during a callback or a system call.
    pub(super) fn unlock(&mut self) {
        self.state = None;
    }

    /// Takes a role, or fails with `NETLIB_BUSY` if another thread holds it.
    #[inline(always)]
    pub(super) fn take(&mut self, role: Role) -> Result<()> {
        if self.state()?.is_held(role) {
            self.await_looking_writer(role)?;
        }
        self.claim(role)
    }

    /// Fails with `NETLIB_BUSY` if another thread reads or writes. If a failed write only looks for a response, waits
    /// until it has done so: one thread may read while another one writes.
    #[cold]
    fn await_looking_writer(&mut self, role: Role) -> Result<()> {
        while role == Role::Reader && self.state()?.is_writer_looking {
            self.wait_for_role(NO_WAITING.wait_policy())?;
        }
        if !self.state()?.is_held(role) {
            return Ok(());
        }
        let what = if role == Role::Reader { "reading from" } else { "writing to" };
        Err(Error::new(Status::Busy, format!("another thread is {what} this stream")))
    }

    /// Takes a role that no thread holds.
    #[inline(always)]
    pub(super) fn claim(&mut self, role: Role) -> Result<()> {
        self.state()?.roles[role as usize] = Some(ThreadId::current());
        self.roles[role as usize] = true;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn release(&mut self, role: Role) {
        self.roles[role as usize] = false;
        let has_waiters = self.state().map_or(true, |state| {
            state.roles[role as usize] = None;
            state.is_writer_looking &= role != Role::Reader;
            state.waiters > 0
        });
        // Notifying the condition variable costs a system call even if no thread waits.
        if has_waiters {
            self.stream.changed.notify_all();
        }
    }

    /// Runs `act` in a role that this call has taken, then releases the role.
    pub(super) fn in_role<T>(&mut self, role: Role, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = act(self);
        self.release(role);
        outcome
    }

    /// Waits until a role is released, but for at most [`ROLE_CHECK_INTERVAL`]. Fails when the limit has ended.
    pub(super) fn wait_for_role(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        policy.check_limit(Status::ReadTimeout)?;
        self.state()?.waiters += 1;
        if let Some(state) = self.state.take() {
            self.state =
                Some(self.stream.changed.wait_timeout(state, ROLE_CHECK_INTERVAL).map_err(|_| poisoned())?.0);
        }
        self.state()?.waiters -= 1;
        Ok(())
    }
}

impl<P> Drop for Call<'_, P> {
    fn drop(&mut self) {
        for role in [Role::Reader, Role::Writer, Role::Handshaker, Role::Sender] {
            if self.roles[role as usize] {
                self.release(role);
            }
        }
    }
}
