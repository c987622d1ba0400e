//! The policy that allows or refuses addresses to connect to. Each connection attempt checks the same address value
//! that it passes to connect(2), so the result of an earlier lookup of the same name does not matter.

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::callback::Verdict;
use crate::error::{Error, Result};
use crate::socket::address_class::Classes;
use crate::socket::endpoint::Endpoint;
use crate::status::Status;

/// The application's callback that allows or refuses an address.
pub type AddressCallback = Arc<dyn Fn(&Endpoint, Classes) -> Result<Verdict> + Send + Sync>;

/// An address policy, which allows every address by default.
#[derive(Clone, Default)]
pub struct AddressPolicy {
    refused: Classes,
    callback: Option<AddressCallback>,
}

impl AddressPolicy {
    /// Adds `classes` to the refused address classes.
    pub fn refuse(&mut self, classes: i32) -> Result<()> {
        let classes = Classes::from_bits(classes).ok_or_else(|| {
            let message = format!("classes has unknown bits: {classes:#x}");
            Error::new(Status::InvalidArgument, message)
        })?;
        self.refused = self.refused.union(classes);
        if !self.refused.intersection(Classes::LOOPBACK).is_empty() {
            // A connection to 0.0.0.0 or :: reaches the local host.
            self.refused = self.refused.union(Classes::UNSPECIFIED);
        }
        Ok(())
    }

    pub(crate) fn refused(&self) -> Classes {
        self.refused
    }

    /// Sets the address callback. Returns the previous callback, which the caller drops.
    pub fn set_callback(&mut self, callback: Option<AddressCallback>) -> Option<AddressCallback> {
        mem::replace(&mut self.callback, callback)
    }

    /// Fails if the policy refuses `address`. Called before each connect(2), with the address that is passed to
    /// connect(2).
    pub(crate) fn check(&self, address: &Endpoint) -> Result<()> {
        if self.refused.is_empty() && self.callback.is_none() {
            return Ok(());
        }
        let classes = address.classes();
        let refused = classes.intersection(self.refused);
        if !refused.is_empty() {
            return Err(error(format!("the address policy refuses {}: {}", address.name(), name(refused))));
        }
        let Some(callback) = &self.callback else { return Ok(()) };
        match callback(address, classes)? {
            Verdict::Allow => Ok(()),
            Verdict::Refuse => {
                Err(error(format!("the address callback refuses {} ({})", address.name(), name(classes))))
            }
        }
    }
}

fn error(message: String) -> Error {
    Error::new(Status::AddressRefused, message)
}

fn name(classes: Classes) -> &'static str {
    classes.name().and_then(|name| name.to_str().ok()).unwrap_or("")
}

impl fmt::Debug for AddressPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callback = self.callback.as_ref().map(|_| "set");
        f.debug_struct("AddressPolicy").field("refused", &self.refused).field("callback", &callback).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::endpoint::UnixAddress;
    use std::net::SocketAddr;

    fn refusal(policy: &AddressPolicy, address: &str) -> Option<String> {
        let endpoint = match address.parse::<SocketAddr>() {
            Ok(address) => Endpoint::Ip(address),
            Err(_) => Endpoint::Unix(UnixAddress::new(address.as_bytes()).unwrap()),
        };
        let result = policy.check(&endpoint);
        result.err().map(|error| {
            assert_eq!(error.status(), Status::AddressRefused);
            error.message().to_owned()
        })
    }

    #[test]
    fn each_call_of_refuse_adds_to_the_refused_address_classes() {
        let mut policy = AddressPolicy::default();
        assert_eq!(refusal(&policy, "169.254.169.254:80"), None);
        policy.refuse(Classes::LINK_LOCAL.bits()).unwrap();
        let link_local = Some("the address policy refuses 169.254.169.254: link-local".to_owned());
        assert_eq!(refusal(&policy, "169.254.169.254:80"), link_local);
        policy.refuse(0).unwrap();
        assert_eq!(refusal(&policy, "169.254.169.254:80"), link_local);
        assert_eq!(refusal(&policy, "100.100.100.200:80"), None);
        policy.refuse(Classes::METADATA.bits()).unwrap();
        for ip in ["169.254.169.254", "100.100.100.200", "168.63.129.16", "2002:a9fe:a9fe::"] {
            let expected = format!("the address policy refuses {ip}: metadata");
            let address = SocketAddr::new(ip.parse().unwrap(), 80).to_string();
            assert_eq!(refusal(&policy, &address), Some(expected));
        }
        assert_eq!(
            refusal(&policy, "[fe80::1]:80"),
            Some("the address policy refuses fe80::1: link-local".to_owned())
        );
        assert_eq!(refusal(&policy, "10.0.0.1:80"), None);
        assert_eq!(refusal(&policy, "/run/s"), None);
        policy.refuse(Classes::UNIX.bits()).unwrap();
        for (name, shown) in [("/run/s", "/run/s"), ("\0name", "@name")] {
            assert_eq!(refusal(&policy, name), Some(format!("the address policy refuses {shown}: unix")));
        }
        assert_eq!(refusal(&policy, "10.0.0.1:80"), None);
    }

    #[test]
    fn refusing_loopback_addresses_also_refuses_unspecified_ones() {
        let mut policy = AddressPolicy::default();
        policy.refuse(Classes::PRIVATE.bits()).unwrap();
        assert_eq!(refusal(&policy, "0.0.0.0:80"), None);
        policy.refuse(Classes::LOOPBACK.bits()).unwrap();
        for (address, ip) in [("0.0.0.0:80", "0.0.0.0"), ("[::]:80", "::"), ("[::ffff:0:0]:80", "::ffff:0.0.0.0")] {
            let expected = format!("the address policy refuses {ip}: unspecified");
            assert_eq!(refusal(&policy, address), Some(expected));
        }
    }

    #[test]
    fn unknown_address_class_bits_are_refused() {
        for bits in [0x2000, -1, i32::MIN] {
            let mut policy = AddressPolicy::default();
            let error = policy.refuse(bits).unwrap_err();
            let expected = format!("classes has unknown bits: {bits:#x}");
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, &*expected));
            assert!(policy.refused.is_empty());
        }
    }

    #[test]
    fn the_address_callback_gets_only_addresses_of_allowed_classes() {
        let mut policy = AddressPolicy::default();
        policy.refuse(Classes::PRIVATE.bits()).unwrap();
        policy.set_callback(Some(Arc::new(|address: &Endpoint, classes: Classes| {
            assert!(classes.intersection(Classes::PRIVATE).is_empty());
            match address.port() {
                Some(80) => Ok(Verdict::Allow),
                _ => Ok(Verdict::Refuse),
            }
        })));
        assert_eq!(refusal(&policy, "10.0.0.1:81"), Some("the address policy refuses 10.0.0.1: private".to_owned()));
        assert_eq!(refusal(&policy, "8.8.8.8:80"), None);
        let refused = Some("the address callback refuses 8.8.8.8 (global)".to_owned());
        assert_eq!(refusal(&policy, "8.8.8.8:79"), refused);
        let refused = Some("the address callback refuses /run/s (unix)".to_owned());
        assert_eq!(refusal(&policy, "/run/s"), refused);
        policy.set_callback(Some(Arc::new(|_: &Endpoint, _| Err(Error::new(Status::CallbackFailed, "it failed")))));
        let error = policy.check(&Endpoint::Ip("8.8.8.8:80".parse().unwrap())).unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::CallbackFailed, "it failed"));
        policy.set_callback(None);
        assert_eq!(refusal(&policy, "8.8.8.8:79"), None);
    }
}
