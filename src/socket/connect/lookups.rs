//! The name lookups of a [`Connect`]: first of the source address, then of the host.

use crate::error::{Error, Result};
use crate::socket::attempt::SourceAddresses;
use crate::socket::endpoint::Endpoint;
use crate::socket::host_port::HostPort;
use crate::socket::resolver::{Lookup, Resolution};
use crate::status::Status;

use super::{Connect, Phase, Target};

impl Connect {
    fn start_lookup(&self, host: HostPort) -> Result<Resolution> {
        if self.may_block {
            return self.resolver.resolve_blocking(&host).map(Resolution::Done);
        }
        if let Some(found) = host.numeric() {
            return found.map(Resolution::Done);
        }
        self.check_limit()?;
        self.resolver.start(host).map(Resolution::Pending)
    }

    /// Returns the addresses that a lookup found, or the lookup if it is still running. If the lookup was started
    /// before a fork(2), starts a new lookup and returns it. The descriptor of a lookup that has ended stays open for
    /// one more step.
    pub(super) fn poll_lookup(&mut self, lookup: Lookup) -> Result<Resolution> {
        if lookup.is_orphaned() {
            let restarted = self.resolver.restart(&lookup)?;
            self.ended_lookup = Some(lookup);
            return Ok(Resolution::Pending(restarted));
        }
        let Some(found) = lookup.take() else { return Ok(Resolution::Pending(lookup)) };
        self.ended_lookup = Some(lookup);
        found.map(Resolution::Done)
    }

    pub(super) fn resolve_source(&mut self, target: Target) -> Result<Phase> {
        // The source address is not resolved for Unix domain sockets, because they have none.
        let Some(source) = self.options.source.as_ref().filter(|_| target.may_use_ip()) else {
            return Ok(Phase::ResolveTarget(target));
        };
        let Some(host) = source.host_port()? else {
            self.source = Some(SourceAddresses::AnyWithPort(source.port));
            return Ok(Phase::ResolveTarget(target));
        };
        if self.options.supplies_addresses && host.numeric().is_none() {
            let message = "the options leave name lookups to the application, so the host must be an address";
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let resolution = self.start_lookup(host)?;
        Ok(self.after_source_lookup(resolution, target))
    }

    pub(super) fn after_source_lookup(&mut self, resolution: Resolution, target: Target) -> Phase {
        match resolution {
            Resolution::Pending(lookup) => Phase::AwaitSource(lookup, target),
            Resolution::Done(found) => {
                self.source = Some(SourceAddresses::Resolved(found));
                Phase::ResolveTarget(target)
            }
        }
    }

    pub(super) fn resolve_target(&mut self, target: Target) -> Result<Phase> {
        let host = match target {
            Target::Addresses(addresses) => return self.start_scheduler(addresses),
            Target::Host(host) => host,
        };
        if self.options.supplies_addresses {
            if let Some(found) = host.numeric() {
                return self.start_scheduler(Endpoint::all_ip(found?));
            }
            self.check_limit()?;
            return Ok(Phase::AwaitSupply(host));
        }
        if let Some(resolve) = &self.options.resolve {
            let found = host.resolve_with(resolve, self.limit.as_deref())?;
            return self.start_scheduler(found);
        }
        let resolution = self.start_lookup(host)?;
        self.after_target_lookup(resolution)
    }

    pub(super) fn after_target_lookup(&mut self, resolution: Resolution) -> Result<Phase> {
        match resolution {
            Resolution::Pending(lookup) => Ok(Phase::AwaitTarget(lookup)),
            Resolution::Done(addresses) => self.start_scheduler(Endpoint::all_ip(addresses)),
        }
    }
}
