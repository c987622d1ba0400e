//! Performs one step of a session: rustls processes records from the front of the input, and the engine updates its
//! state with the result.

use super::Engine;
use super::certificate_time::CertificateTime;
use super::offered_version::Layout;
use crate::error::{Error, Result};
use crate::fork;
use crate::status::Status;
use crate::tls::config::EchStatus;
use crate::tls::context::Context;
use crate::tls::per_thread::PerThread;
use crate::tls::session::pool::{Pool, RecordBuffer, copy_into};
use crate::tls::session::record::{self, Received, Step};

impl Engine {
    /// Lets rustls process input up to the next plaintext or message. Returns the number of plaintext bytes copied into
    /// `room`, and keeps the plaintext that does not fit. Code for input other than application data is marked cold, so
    /// that the frequently executed code is contiguous.
    pub(super) fn step(&mut self, room: &mut [u8]) -> Result<(usize, Step)> {
        let was_handshaking = self.is_handshaking();
        // A handshake uses shared keys, random numbers and session stores, so fork(2) must wait for it. A handshake
        // also sets per-thread values, which `collect_thread_results` takes.
        let _delay = was_handshaking.then(fork::delay);
        if let Some(step) = self.read_client_hello()? {
            self.unconsumed = self.incoming.as_ref().map_or(0, |incoming| incoming.bytes().len());
            return Ok((0, step));
        }
        let mut delivered = 0;
        let pending_plaintext = &mut self.pending_plaintext;
        let pool = &self.pool;
        let deliver = |plaintext: &[u8]| {
            let now = copy_into(room.get_mut(delivered..).unwrap_or(&mut []), plaintext);
            delivered += now;
            match plaintext.get(now..) {
                Some(later) if !later.is_empty() => keep_pending_plaintext(pending_plaintext, pool, later),
                _ => Ok(()),
            }
        };
        if was_handshaking {
            set_certificate_time(&self.context, &self.certificate_time);
        }
        let mut records = self.incoming.as_mut().map_or(&mut [][..], RecordBuffer::bytes_mut);
        if self.client_hello.is_some() {
            records = first_record(records);
        }
        self.begun = true;
        let arrivals = self.context.sessions().arrivals();
        let Received { consumed, outcome } = self.connection.receive(records, &mut self.outgoing, deliver);
        let has_plaintext = delivered > 0 || self.pending_plaintext.is_some();
        self.has_application_data |= has_plaintext;
        if was_handshaking {
            self.collect_thread_results();
        }
        // If the server rejects ECH, rustls ends the handshake with an error. So a completed handshake means that ECH
        // was accepted.
        if self.ech == EchStatus::Offered && !self.is_handshaking() {
            self.ech = EchStatus::Accepted;
        }
        if arrivals != self.context.sessions().arrivals() {
            self.adopt_sessions();
        }
        if outcome.is_err() {
            self.record_offered_version(Layout::Joined);
        }
        if let Some(mut incoming) = self.incoming.take() {
            incoming.consume(consumed);
            self.keep_input(incoming);
        }
        self.received_record |= consumed > 0;
        let step = match outcome {
            Ok(Step::Data) => Step::Data,
            Ok(step) => self.finish_step_without_data(step, consumed),
            Err(failure) => return Err(self.fail_with_alert(failure)),
        };
        self.unconsumed = if step == Step::Blocked { self.find_unconsumed() } else { 0 };
        // As long as rustls has output, it must be called again even without more input, so `needs_input` stays false.
        let is_all_data = step == Step::Data && self.incoming.is_none() && !self.connection.wants_write();
        self.needs_input = step == Step::Blocked || is_all_data;
        self.peer_closed |= step == Step::PeerClosed;
        if !was_handshaking {
            self.limit_bytes_without_data(consumed, has_plaintext)?;
        }
        Ok((delivered, step))
    }

    /// Takes the values that the handshake has set for this thread, so that the next session on this thread does not
    /// find them.
    #[cold]
    fn collect_thread_results(&mut self) {
        self.context.times().map(PerThread::take);
        if let Some(request) = self.context.peer_requests().take() {
            self.peer_request = Some(Box::new(request));
        }
    }

    /// Updates the state after a step without plaintext, and returns the step to report to the caller.
    #[cold]
    fn finish_step_without_data(&mut self, step: Step, consumed: usize) -> Step {
        match self.update_early_data(step) {
            // Until the ClientHello is complete, records are processed one at a time.
            Step::Blocked if self.client_hello.is_some() && consumed > 0 && self.incoming.is_some() => Step::Progress,
            step => step,
        }
    }

    /// Returns the number of bytes that rustls must see again in the next call. These bytes are always at the end of
    /// the input, because rustls processes no other record in the middle of a handshake message.
    #[cold]
    fn find_unconsumed(&self) -> usize {
        let left = self.incoming.as_ref().map_or(&[][..], RecordBuffer::bytes);
        if record::has_unconsumed_record(left) { left.len() } else { 0 }
    }
}

/// Keeps plaintext that does not fit into the reader's buffer.
#[cold]
fn keep_pending_plaintext(pending_plaintext: &mut Option<RecordBuffer>, pool: &Pool, plaintext: &[u8]) -> Result<()> {
    let mut rest = match pending_plaintext.take() {
        Some(rest) => rest,
        None => pool.borrow()?,
    };
    let is_all = rest.push(plaintext) == plaintext.len();
    *pending_plaintext = Some(rest);
    let no_room = || {
        Error::new(Status::Internal, format!("a record of {} bytes does not fit into any buffer", plaintext.len()))
    };
    if is_all { Ok(()) } else { Err(no_room()) }
}

/// Returns only the first record of `records`, because the second record may be the ClientHello.
#[cold]
fn first_record(records: &mut [u8]) -> &mut [u8] {
    let first = record::whole_record(records).unwrap_or(records.len());
    records.get_mut(..first).unwrap_or(&mut [])
}

/// Sets the time for the certificate verifier, which runs on this thread.
#[cold]
fn set_certificate_time(context: &Context, certificate_time: &CertificateTime) {
    if let (Some(times), CertificateTime::FromCallback(callback_time)) = (context.times(), certificate_time) {
        times.set(Result::clone(&callback_time.time));
    }
}
