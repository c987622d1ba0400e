//! A call at a stream: the lock, as long as it computes, and the roles that it plays until it is over.

use std::sync::MutexGuard;
use std::time::Duration;

use super::transport::Transport;
use super::{Core, Settings, Stream, WaitPolicy, poisoned};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::per_thread::ThreadId;

/// How often a thread that waits for another's work looks at its limit.
const ROLE_CHECK_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reader = 0,
    Writer = 1,
    Handshaker = 2,
    Sender = 3,
}

/// Taking the lock, and letting go of it, costs more than what is done under it. So a call keeps it from one step to the
/// next, and lets go where the transport or the program is at work, which it reaches by way of this alone.
pub(super) struct Call<'a> {
    stream: &'a Stream,
    core: Option<MutexGuard<'a, Core>>,
    /// The roles that are this call's, which are given up with it.
    roles: [bool; Core::ROLES],
}

impl Core {
    /// Roles that nobody has are taken.
    #[inline(always)]
    pub(super) fn claim(&mut self, roles: &[Role], thread: ThreadId) {
        roles.iter().for_each(|&role| self.roles[role as usize] = Some(thread));
    }

    /// Whether threads wait for that, which have to be told: [`Stream::notify_waiters`].
    #[inline(always)]
    pub(super) fn release(&mut self, roles: &[Role]) -> bool {
        roles.iter().for_each(|&role| self.roles[role as usize] = None);
        self.waiters > 0
    }
}

impl Stream {
    /// Waking costs a system call even when nobody sleeps.
    #[inline(always)]
    pub(super) fn notify_waiters(&self, is_awaited: bool) {
        if is_awaited {
            self.changed.notify_all();
        }
    }
}

// A call takes many of these steps. With the small ones inlined a round trip has 300 instructions less, of 7,100.
impl<'a> Call<'a> {
    pub(super) fn new(stream: &'a Stream) -> Call<'a> {
        Call { stream, core: None, roles: [false; Core::ROLES] }
    }

    /// With roles that this thread has.
    #[cold]
    pub(super) fn resumed(stream: &'a Stream, core: MutexGuard<'a, Core>, roles: &[Role]) -> Call<'a> {
        let mut call = Call { core: Some(core), ..Call::new(stream) };
        roles.iter().for_each(|&role| call.roles[role as usize] = true);
        call
    }

    /// One of the program: the role that it needs, and the settings under which it runs.
    pub(super) fn begin(stream: &'a Stream, role: Role) -> Result<(Call<'a>, Settings)> {
        let mut call = Call::new(stream);
        let settings = call.core_for_caller()?.settings.clone();
        call.take(role)?;
        Ok((call, settings))
    }

    /// The state, under the lock.
    #[inline(always)]
    pub(super) fn core(&mut self) -> Result<&mut Core> {
        if self.core.is_none() {
            self.core = Some(self.stream.lock()?);
        }
        self.core.as_deref_mut().ok_or_else(poisoned)
    }

    /// The same for the program, which must not come from a callback of this stream.
    #[inline(always)]
    pub(super) fn core_for_caller(&mut self) -> Result<&mut Core> {
        let core = self.core()?;
        core.check_reentry()?;
        Ok(core)
    }

    /// The transport, without the lock.
    pub(super) fn transport(&mut self) -> &'a Transport {
        self.unlock();
        &self.stream.transport
    }

    /// Whether "not now" is answered by waiting.
    pub(super) fn can_wait(&self) -> bool {
        self.stream.transport.can_wait()
    }

    /// Whether a receive may wait by itself.
    pub(super) fn may_block(&self) -> bool {
        self.stream.transport.may_block()
    }

    /// Before something of the program's runs.
    pub(super) fn unlock(&mut self) {
        self.core = None;
    }

    /// Takes a role that only one thread may have.
    #[inline(always)]
    pub(super) fn take(&mut self, role: Role) -> Result<()> {
        if self.core()?.is_held(role) {
            let what = if role == Role::Reader { "reading from" } else { "writing to" };
            return Err(Error::new(Status::Busy, format!("another thread is {what} this stream")));
        }
        self.claim(role)
    }

    /// Takes a role that nobody has.
    #[inline(always)]
    pub(super) fn claim(&mut self, role: Role) -> Result<()> {
        self.core()?.claim(&[role], ThreadId::current());
        self.roles[role as usize] = true;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn release(&mut self, role: Role) {
        self.roles[role as usize] = false;
        let is_awaited = self.core().map_or(true, |core| core.release(&[role]));
        self.stream.notify_waiters(is_awaited);
    }

    /// Does something in a role that has been taken, and gives it up.
    pub(super) fn in_role<T>(&mut self, role: Role, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = act(self);
        self.release(role);
        outcome
    }

    /// Waits a little for a role to be given up, or for the limit to end that.
    pub(super) fn wait_for_role(&mut self, policy: WaitPolicy<'_>) -> Result<()> {
        policy.check_limit()?;
        self.core()?.waiters += 1;
        if let Some(core) = self.core.take() {
            self.core = Some(self.stream.changed.wait_timeout(core, ROLE_CHECK_INTERVAL).map_err(|_| poisoned())?.0);
        }
        self.core()?.waiters -= 1;
        Ok(())
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        for role in [Role::Reader, Role::Writer, Role::Handshaker, Role::Sender] {
            if self.roles[role as usize] {
                self.release(role);
            }
        }
    }
}
