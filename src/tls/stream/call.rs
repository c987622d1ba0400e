//! A call at a stream: the lock, as long as it computes, and the roles that it plays until it is over.

use std::sync::MutexGuard;
use std::time::Duration;

use super::transport::Transport;
use super::{Core, Settings, Stream, Terms, poisoned};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::session::per_thread::ThreadMark;

/// How often a thread that waits for another's work looks at its limit.
const GLANCE: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reader = 0,
    Writer = 1,
    Shaker = 2,
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
    pub(super) fn assume(&mut self, roles: &[Role], thread: ThreadMark) {
        roles.iter().for_each(|&role| self.taken[role as usize] = Some(thread));
    }

    /// Whether threads wait for that, which have to be told: [`Stream::tell`].
    #[inline(always)]
    pub(super) fn give_up(&mut self, roles: &[Role]) -> bool {
        roles.iter().for_each(|&role| self.taken[role as usize] = None);
        self.waiting > 0
    }
}

impl Stream {
    /// Waking costs a system call even when nobody sleeps.
    #[inline(always)]
    pub(super) fn tell(&self, is_awaited: bool) {
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
        let settings = call.callable()?.settings.clone();
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
    pub(super) fn callable(&mut self) -> Result<&mut Core> {
        let core = self.core()?;
        core.check_callable()?;
        Ok(core)
    }

    /// The transport, without the lock.
    pub(super) fn transport(&mut self) -> &'a Transport {
        self.let_go();
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
    pub(super) fn let_go(&mut self) {
        self.core = None;
    }

    /// Takes a role that only one thread may have.
    #[inline(always)]
    pub(super) fn take(&mut self, role: Role) -> Result<()> {
        if self.core()?.is_taken(role) {
            let what = if role == Role::Reader { "reading from" } else { "writing to" };
            return Err(Error::new(Status::Busy, format!("another thread is {what} this stream")));
        }
        self.assume(role)
    }

    /// Takes a role that nobody has.
    #[inline(always)]
    pub(super) fn assume(&mut self, role: Role) -> Result<()> {
        self.core()?.assume(&[role], ThreadMark::here());
        self.roles[role as usize] = true;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn give_up(&mut self, role: Role) {
        self.roles[role as usize] = false;
        let is_awaited = self.core().map_or(true, |core| core.give_up(&[role]));
        self.stream.tell(is_awaited);
    }

    /// Does something in a role that has been taken, and gives it up.
    pub(super) fn done_as<T>(&mut self, role: Role, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outcome = act(self);
        self.give_up(role);
        outcome
    }

    /// Waits a little for a role to be given up, or for the limit to end that.
    pub(super) fn glance(&mut self, terms: Terms<'_>) -> Result<()> {
        terms.check_limit()?;
        self.core()?.waiting += 1;
        if let Some(core) = self.core.take() {
            self.core = Some(self.stream.changed.wait_timeout(core, GLANCE).map_err(|_| poisoned())?.0);
        }
        self.core()?.waiting -= 1;
        Ok(())
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        for role in [Role::Reader, Role::Writer, Role::Shaker, Role::Sender] {
            if self.roles[role as usize] {
                self.give_up(role);
            }
        }
    }
}
