//! The options for connecting. Each setter validates its value.

use std::sync::Arc;
use std::time::Duration;

use crate::callback::CallbackId;
use crate::digest::{Digest, Settings};
use crate::error::{Error, Result};
use crate::memory;
use crate::socket::address_policy::{AddressCallback, AddressPolicy};
use crate::socket::endpoint::Endpoint;
use crate::socket::host_port::HostPort;
use crate::socket::host_port::ResolveCallback;
use crate::socket::tcp_options::TcpOptions;
use crate::status::Status;
use crate::timeout::{self, Timeout, TotalTimeout};

/// The options for connecting.
#[derive(Clone)]
pub struct ConnectOptions {
    /// The timeout of each connection attempt, in seconds. Without a timeout, an attempt ends only when the system
    /// gives up.
    pub timeout: f64,
    pub source: Option<SourceAddress>,
    /// The TCP options for which netlib has setters. They are applied before `socket_options`, which may override them.
    pub tcp: TcpOptions,
    pub socket_options: Vec<SocketOption>,
    /// The policy for addresses to connect to. The policy does not apply to the source address.
    pub policy: AddressPolicy,
    /// The family of the addresses to connect to.
    pub family: AddressFamily,
    /// The time between the starts of two racing attempts.
    pub attempt_delay: Duration,
    /// The time limit for a whole connect operation.
    pub total: Option<TotalTimeout>,
    /// The read timeout of the stream that [`Stream::connect`](crate::stream::Stream::connect) makes.
    pub read_timeout: f64,
    /// Whether the application supplies the addresses of the host, instead of a resolver.
    pub supplies_addresses: bool,
    /// The callback that resolves names instead of the system's resolver.
    pub resolve: Option<ResolveCallback>,
    /// Identifies the callback in `resolve`. `address_id` identifies the callback in `policy`.
    pub(crate) resolve_id: CallbackId,
    pub(crate) address_id: CallbackId,
}

/// The default Connection Attempt Delay (RFC 8305 section 8), and its bounds in seconds (section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
const MIN_ATTEMPT_DELAY: f64 = 0.01;
const MAX_ATTEMPT_DELAY: f64 = 2.0;

impl Default for ConnectOptions {
    fn default() -> ConnectOptions {
        ConnectOptions {
            timeout: timeout::DEFAULT,
            source: None,
            tcp: TcpOptions::default(),
            socket_options: Vec::new(),
            policy: AddressPolicy::default(),
            family: AddressFamily::Any,
            attempt_delay: ATTEMPT_DELAY,
            total: None,
            read_timeout: timeout::DEFAULT,
            supplies_addresses: false,
            resolve: None,
            resolve_id: CallbackId::default(),
            address_id: CallbackId::default(),
        }
    }
}

impl ConnectOptions {
    /// Returns a digest of the options. Equal options have equal digests.
    pub(crate) fn digest(&self) -> Digest {
        // The struct is destructured, so that a new option causes a compile error until the option is added to the
        // digest.
        let ConnectOptions {
            timeout,
            source,
            tcp,
            socket_options,
            policy,
            family,
            attempt_delay,
            // The digest is a part of the key of a pooled connection. These timeouts limit only one request, so they
            // are not included.
            total: _,
            read_timeout: _,
            supplies_addresses,
            resolve: _,
            resolve_id,
            address_id,
        } = self;
        let source = source.as_ref();
        let set = socket_options.iter().map(|SocketOption { level, name, value }| {
            Settings::new("option")
                .with_number("level", *level)
                .with_number("name", *name)
                .with("value", value)
                .finish()
        });
        set.fold(Settings::new("connect options"), |all, option| all.with("option", &option))
            .with("timeout", &timeout.to_bits().to_be_bytes())
            .with_option("source host", source.map(|source| source.host.as_bytes()))
            .with_number("source port", source.map_or(0, |source| source.port))
            .with("tcp", &tcp.digest())
            .with_number("refused", policy.refused().bits())
            .with_number("family", *family as u8)
            .with_number("supplies addresses", u8::from(*supplies_addresses))
            .with("attempt delay", &attempt_delay.as_nanos().to_be_bytes())
            .with("resolve callback", &resolve_id.to_bytes())
            .with("address callback", &address_id.to_bytes())
            .finish()
    }

    pub fn set_timeout(&mut self, seconds: f64) -> Result<()> {
        // This call only validates the number: its result is not used, because the process default is read when
        // connecting starts.
        timeout::resolve(seconds, "timeout")?;
        self.timeout = seconds;
        Ok(())
    }

    /// Copies the timeouts. If the clock of the total timeout is running, connecting must end within the rest of the
    /// total timeout, counted from now. Otherwise each connect operation gets the whole total timeout.
    pub fn use_timeout(&mut self, timeout: &Timeout) -> Result<()> {
        self.total = timeout.rest_of_total()?;
        // A total timeout replaces the process default. The total timeout is not copied to `timeout`, because `timeout`
        // is part of the digest.
        let is_replaced = self.total.is_some() && timeout.connect() == timeout::DEFAULT;
        self.timeout = if is_replaced { timeout::NONE } else { timeout.connect() };
        self.read_timeout = timeout.read();
        Ok(())
    }

    pub fn set_source_address(&mut self, host: &str, port: u16) -> Result<()> {
        // The host is validated before it is copied, because the caller may pass a host of any length.
        if !host.is_empty() {
            HostPort::new(host, port)?;
        }
        self.source = Some(SourceAddress { host: host.to_owned(), port });
        Ok(())
    }

    pub fn refuse_addresses(&mut self, classes: i32) -> Result<()> {
        self.policy.refuse(classes)
    }

    /// Sets the address callback. Returns the previous callback, which the caller drops.
    pub fn set_address_callback(&mut self, callback: Option<AddressCallback>) -> Option<AddressCallback> {
        self.policy.set_callback(callback)
    }

    pub fn set_attempt_delay(&mut self, seconds: f64) -> Result<()> {
        if !(MIN_ATTEMPT_DELAY..=MAX_ATTEMPT_DELAY).contains(&seconds) {
            let message = format!("seconds must be {MIN_ATTEMPT_DELAY} to {MAX_ATTEMPT_DELAY}; it is {seconds}");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        self.attempt_delay = Duration::from_secs_f64(seconds);
        Ok(())
    }

    pub fn add_socket_option(&mut self, level: i32, name: i32, value: &[u8]) -> Result<()> {
        let value = Arc::new(memory::copy(value, "a socket option")?);
        memory::push(&mut self.socket_options, SocketOption { level, name, value }, "socket options")
    }
}

/// The family of the IP addresses to connect to. Unix domain sockets are not affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFamily {
    Any = 0,
    Ipv4 = 1,
    Ipv6 = 2,
}

impl AddressFamily {
    pub fn from_code(code: i32) -> Option<AddressFamily> {
        [AddressFamily::Any, AddressFamily::Ipv4, AddressFamily::Ipv6].into_iter().find(|of| *of as i32 == code)
    }

    pub(super) fn contains(self, endpoint: &Endpoint) -> bool {
        match (self, endpoint) {
            (AddressFamily::Ipv4, Endpoint::Ip(address)) => address.is_ipv4(),
            (AddressFamily::Ipv6, Endpoint::Ip(address)) => address.is_ipv6(),
            (AddressFamily::Any, _) | (_, Endpoint::Unix(_)) => true,
        }
    }

    /// Returns the name of the family for error messages, followed by a space.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            AddressFamily::Any => "",
            AddressFamily::Ipv4 => "IPv4 ",
            AddressFamily::Ipv6 => "IPv6 ",
        }
    }
}

/// The local address of connections. If the host is empty, the system chooses the address; if the port is 0, the system
/// chooses the port.
#[derive(Clone, Debug)]
pub struct SourceAddress {
    pub host: String,
    pub port: u16,
}

impl SourceAddress {
    /// Returns the host to resolve; `None` if any local address may be used.
    pub(super) fn host_port(&self) -> Result<Option<HostPort>> {
        if self.host.is_empty() {
            return Ok(None);
        }
        HostPort::new(&self.host, self.port).map(Some)
    }
}

pub(super) fn prefix_source_address(error: Error) -> Error {
    error.prefixed("source address")
}

/// An option for setsockopt(2), set before connect(2).
#[derive(Clone, Debug)]
pub struct SocketOption {
    pub level: i32,
    pub name: i32,
    /// The value of a socket option may be long, so copies of the options share it.
    pub value: Arc<Vec<u8>>,
}
