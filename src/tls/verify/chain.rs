//! Verifies a certificate chain without a session, with the same checks as a handshake.

use std::time::Duration;

use rustls_pki_types::UnixTime;

use super::server_name;
use super::{Purpose, VerifyRequest, verify_with};
use crate::error::{ApiName, Error, Result};
use crate::status::Status;
use crate::tls::Context;
use crate::tls::credentials::pem;
use crate::tls::verify::wall_clock::unix_time;

/// The maximum number of certificates in a chain; a handshake message holds fewer certificates. The limit bounds the
/// time for explaining a refusal.
const MAX_CERTIFICATES: usize = 256;

/// The size of the largest certificate that a handshake message can hold.
const MAX_CERTIFICATE_SIZE: usize = 0xffff;

impl Context {
    /// Verifies `chain`, in which the peer's own certificate comes first, with the same checks as a handshake. If
    /// `name` is given, the peer's certificate must match it. The chain is verified even if the context's mode is
    /// CERT_NONE, unless pins replace chain verification. `time` is in seconds since 1970; `None` uses the context's
    /// clock.
    pub fn verify_chain(&self, chain: &[u8], purpose: i32, name: Option<&str>, time: Option<f64>) -> Result<()> {
        let purpose = match purpose {
            1 => Purpose::Client,
            2 => Purpose::Server,
            _ => {
                let (before, after) = ("purpose must be one of ", format!("; it is {purpose}"));
                return Err(Error::naming(Status::InvalidArgument, before, ApiName::Purpose, &after));
            }
        };
        let name = name.map(|name| server_name::of_parameter(name, "name")).transpose()?;
        let given = time.map(moment).transpose()?;
        let chain = pem::certificates(pem::bounded(chain, "chain")?, "chain")?;
        if chain.len() > MAX_CERTIFICATES {
            let message = format!("chain has {} certificates; at most {MAX_CERTIFICATES} are allowed", chain.len());
            return Err(invalid(message));
        }
        if let Some((index, der)) = chain.iter().enumerate().find(|(_, der)| der.len() > MAX_CERTIFICATE_SIZE) {
            let message = format!(
                "certificate {index} of chain has {} bytes; at most {MAX_CERTIFICATE_SIZE} are allowed",
                der.len()
            );
            return Err(invalid(message));
        }
        let verifies_chain = !self.pins_replace_chain();
        let policy = self.policy_for(verifies_chain)?;
        let time = match (given, self.wall_clock()) {
            (Some(time), _) => time,
            (None, Some(clock)) => unix_time(clock)?,
            (None, None) => UnixTime::now(),
        };
        let Some((end_entity, others)) = chain.split_first() else {
            return Err(Error::new(Status::InvalidPem, "chain contains no certificate"));
        };
        let request = VerifyRequest { end_entity, others, purpose, name: name.as_ref(), time };
        verify_with(policy, &request, verifies_chain).map_err(|refusal| {
            let side = match purpose {
                Purpose::Server => "server",
                Purpose::Client => "client",
            };
            match &name {
                Some(name) => refusal.explained(&format!("the {side} \"{}\"", name.to_str())),
                None => refusal.explained(&format!("the {side}")),
            }
        })
    }
}

fn moment(seconds: f64) -> Result<UnixTime> {
    Duration::try_from_secs_f64(seconds)
        .map(UnixTime::since_unix_epoch)
        .map_err(|_| invalid(format!("time must be seconds since 1970, 0 or more; it is {seconds}")))
}

fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}
