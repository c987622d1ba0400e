//! What a session asks the program in the middle of its handshake: which context goes on ([`super::client_hello`]), and what
//! time it is. The program's functions may use the stream that they are called for, so the engine does not call them: it
//! stops with a question, which is asked while no lock is held, and goes on with the answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls_pki_types::UnixTime;

use super::{Engine, client_hello};
use crate::callback::{WallClock, wall_time};
use crate::error::{Error, Result};
use crate::status::Status;
use crate::tls::context::Context;

pub(crate) enum Question {
    Name(client_hello::Question),
    Time(WallClock),
}

pub(crate) enum Answer {
    Name(client_hello::Answer),
    Time(Result<UnixTime>),
}

impl Question {
    pub(crate) fn ask(self) -> Answer {
        match self {
            Question::Name(question) => Answer::Name(question.ask()),
            Question::Time(clock) => Answer::Time(unix_time(&clock)),
        }
    }
}

/// The time by which certificates are judged.
pub(crate) enum Moment {
    /// The system's, or none is needed.
    Now,
    Wanted(WallClock),
    Asked,
    /// Boxed, because most sessions have none.
    Told(Box<Told>),
}

/// What the program's clock said, and when by the system's.
pub(crate) struct Told {
    pub(crate) time: Result<UnixTime>,
    pub(crate) at: SystemTime,
}

impl Told {
    /// The time by the program's clock in seconds, as far as it can be known without asking again.
    pub(crate) fn now(&self) -> u64 {
        let since = self.at.elapsed().map_or(0, |since| since.as_secs());
        self.time.as_ref().map_or(0, UnixTime::as_secs).saturating_add(since)
    }
}

impl Moment {
    pub(crate) fn of(context: &Context, is_server: bool) -> Moment {
        context.clock(is_server).map_or(Moment::Now, |clock| Moment::Wanted(Arc::clone(clock)))
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Moment::Wanted(_) | Moment::Asked)
    }
}

impl Engine {
    /// A callback is called before the handshake goes on.
    pub(crate) fn may_call_back(&self) -> bool {
        self.greeting.is_some() || self.moment.is_missing()
    }

    /// Whether the session must not go on before the program's answer.
    pub(crate) fn is_asking(&self) -> bool {
        match &self.greeting {
            Some(greeting) => greeting.is_complete(),
            None => self.moment.is_missing(),
        }
    }

    /// What the program has to answer before the handshake goes on, once; [`Engine::answer`] brings its answer.
    pub(crate) fn take_question(&mut self) -> Option<Question> {
        if self.greeting.is_some() {
            return self.ask_for_context().map(Question::Name);
        }
        match std::mem::replace(&mut self.moment, Moment::Asked) {
            Moment::Wanted(clock) if self.is_handshaking() => Some(Question::Time(clock)),
            moment => {
                self.moment = moment;
                None
            }
        }
    }

    /// The handshake goes on, or ends: the next call tells.
    pub(crate) fn answer(&mut self, answer: Answer) {
        match answer {
            Answer::Name(answer) => self.go_on_with(answer),
            Answer::Time(time) => {
                if let Ok(time) = &time {
                    self.reconsider_offer(time.as_secs());
                }
                self.moment = Moment::Told(Box::new(Told { time, at: SystemTime::now() }));
            }
        }
    }
}

/// The time of day by the program's clock.
pub(crate) fn unix_time(clock: &WallClock) -> Result<UnixTime> {
    let seconds = wall_time(Some(clock))?;
    let since = Duration::try_from_secs_f64(seconds).map_err(|_| {
        let message = format!("the wall clock callback gave {seconds}; it must give seconds since 1970, 0 or more");
        Error::new(Status::CallbackFailed, message)
    })?;
    Ok(UnixTime::since_unix_epoch(since))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_before_1970_and_without_sense_are_refused() {
        for (seconds, expected) in [
            (0.0, Some(0)),
            (1.5, Some(1)),
            (4e9, Some(4_000_000_000)),
            (-1.0, None),
            (f64::NAN, None),
            (f64::INFINITY, None),
            (1e300, None),
        ] {
            let clock: WallClock = Arc::new(move || Ok(seconds));
            match (unix_time(&clock), expected) {
                (Ok(time), Some(expected)) => assert_eq!(time.as_secs(), expected),
                (Err(error), None) => assert_eq!(error.status(), Status::CallbackFailed),
                (result, _) => panic!("{seconds}: {result:?}"),
            }
        }
    }
}
