//! Which addresses may be connected to. Asked about the very address that connect(2) is given, by every attempt: what a
//! name meant when someone looked before makes no difference.

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::callback::Verdict;
use crate::error::{Error, Result};
use crate::socket::address_class::Classes;
use crate::socket::endpoint::Endpoint;
use crate::status::Status;

/// Decides about an address and its classes.
pub type AddressCallback = Arc<dyn Fn(&Endpoint, Classes) -> Result<Verdict> + Send + Sync>;

/// By default every address is allowed.
#[derive(Clone, Default)]
pub struct Policy {
    refused: Classes,
    callback: Option<AddressCallback>,
}

impl Policy {
    /// Adds to the classes that are refused.
    pub fn refuse(&mut self, classes: i32) -> Result<()> {
        let classes = Classes::from_bits(classes).ok_or_else(|| {
            let message = format!("classes has bits that are no class of addresses: {classes:#x}");
            Error::new(Status::InvalidArgument, message)
        })?;
        self.refused = self.refused.and(classes);
        if !self.refused.common(Classes::LOOPBACK).is_empty() {
            // A connect to 0.0.0.0 or :: ends at this machine, too.
            self.refused = self.refused.and(Classes::UNSPECIFIED);
        }
        Ok(())
    }

    pub(crate) fn refused(&self) -> Classes {
        self.refused
    }

    /// Returns the callback that was set before, for the caller to drop.
    pub fn set_callback(&mut self, callback: Option<AddressCallback>) -> Option<AddressCallback> {
        mem::replace(&mut self.callback, callback)
    }

    /// Whether to connect to `address`. Whoever connects calls this with what connect(2) will be given, each time.
    pub(crate) fn check(&self, address: &Endpoint) -> Result<()> {
        if self.refused.is_empty() && self.callback.is_none() {
            return Ok(());
        }
        let classes = address.classes();
        let refused = classes.common(self.refused);
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

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let callback = self.callback.as_ref().map(|_| "set");
        f.debug_struct("Policy").field("refused", &self.refused).field("callback", &callback).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::endpoint::UnixAddress;
    use std::net::SocketAddr;

    fn asked(policy: &Policy, address: &str) -> Option<String> {
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
    fn classes_that_are_refused_add_up() {
        let mut policy = Policy::default();
        assert_eq!(asked(&policy, "169.254.169.254:80"), None);
        policy.refuse(Classes::LINK_LOCAL.bits()).unwrap();
        let link_local = Some("the address policy refuses 169.254.169.254: link-local".to_owned());
        assert_eq!(asked(&policy, "169.254.169.254:80"), link_local);
        policy.refuse(0).unwrap();
        assert_eq!(asked(&policy, "169.254.169.254:80"), link_local);
        assert_eq!(asked(&policy, "100.100.100.200:80"), None);
        policy.refuse(Classes::METADATA.bits()).unwrap();
        for ip in ["169.254.169.254", "100.100.100.200", "168.63.129.16", "2002:a9fe:a9fe::"] {
            let expected = format!("the address policy refuses {ip}: metadata");
            let address = SocketAddr::new(ip.parse().unwrap(), 80).to_string();
            assert_eq!(asked(&policy, &address), Some(expected));
        }
        assert_eq!(asked(&policy, "[fe80::1]:80"), Some("the address policy refuses fe80::1: link-local".to_owned()));
        assert_eq!(asked(&policy, "10.0.0.1:80"), None);
        assert_eq!(asked(&policy, "/run/s"), None);
        policy.refuse(Classes::UNIX.bits()).unwrap();
        for (name, shown) in [("/run/s", "/run/s"), ("\0name", "@name")] {
            assert_eq!(asked(&policy, name), Some(format!("the address policy refuses {shown}: unix")));
        }
        assert_eq!(asked(&policy, "10.0.0.1:80"), None);
    }

    #[test]
    fn who_refuses_loopback_refuses_what_leads_there() {
        let mut policy = Policy::default();
        policy.refuse(Classes::PRIVATE.bits()).unwrap();
        assert_eq!(asked(&policy, "0.0.0.0:80"), None);
        policy.refuse(Classes::LOOPBACK.bits()).unwrap();
        for (address, ip) in [("0.0.0.0:80", "0.0.0.0"), ("[::]:80", "::"), ("[::ffff:0:0]:80", "::ffff:0.0.0.0")] {
            let expected = format!("the address policy refuses {ip}: unspecified");
            assert_eq!(asked(&policy, address), Some(expected));
        }
    }

    #[test]
    fn bits_that_are_no_class_are_refused() {
        for bits in [0x2000, -1, i32::MIN] {
            let mut policy = Policy::default();
            let error = policy.refuse(bits).unwrap_err();
            let expected = format!("classes has bits that are no class of addresses: {bits:#x}");
            assert_eq!((error.status(), error.message()), (Status::InvalidArgument, &*expected));
            assert!(policy.refused.is_empty());
        }
    }

    #[test]
    fn the_callback_sees_what_the_classes_let_through() {
        let mut policy = Policy::default();
        policy.refuse(Classes::PRIVATE.bits()).unwrap();
        policy.set_callback(Some(Arc::new(|address: &Endpoint, classes: Classes| {
            assert!(classes.common(Classes::PRIVATE).is_empty());
            match address.port() {
                Some(80) => Ok(Verdict::Allow),
                _ => Ok(Verdict::Refuse),
            }
        })));
        assert_eq!(asked(&policy, "10.0.0.1:81"), Some("the address policy refuses 10.0.0.1: private".to_owned()));
        assert_eq!(asked(&policy, "8.8.8.8:80"), None);
        let refused = Some("the address callback refuses 8.8.8.8 (global)".to_owned());
        assert_eq!(asked(&policy, "8.8.8.8:79"), refused);
        let refused = Some("the address callback refuses /run/s (unix)".to_owned());
        assert_eq!(asked(&policy, "/run/s"), refused);
        policy.set_callback(Some(Arc::new(|_: &Endpoint, _| Err(Error::new(Status::CallbackFailed, "it failed")))));
        let error = policy.check(&Endpoint::Ip("8.8.8.8:80".parse().unwrap())).unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::CallbackFailed, "it failed"));
        policy.set_callback(None);
        assert_eq!(asked(&policy, "8.8.8.8:79"), None);
    }
}
