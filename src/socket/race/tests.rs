//! Races against a script and a clock of the test's.

use std::cell::Cell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;

use super::*;
use crate::socket::connect_options::ConnectOptions;

/// What becomes of an attempt, so many milliseconds after it began. What is not in the script never answers.
#[derive(Clone, Copy)]
enum Fate {
    /// connect(2) itself fails.
    RefusedAtOnce,
    RefusedAfter(u64),
    ConnectedAfter(u64),
    /// Its backlog is full so long; its listener is gone after `GONE`.
    RoomAfter(u64),
}

const GONE: u64 = 400;

use Fate::*;

struct Script {
    fates: HashMap<u16, Fate>,
    now: Rc<Cell<Duration>>,
    open: Rc<Cell<usize>>,
    /// How many sockets there may be.
    most: usize,
    asked: Rc<Cell<usize>>,
}

/// A socket that counts itself.
struct Scripted {
    port: u16,
    began: Duration,
    open: Rc<Cell<usize>>,
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.open.set(self.open.get() - 1);
    }
}

fn refused() -> Failure {
    Failure { status: Status::ConnectFailed, errno: libc::ECONNREFUSED, reason: "Connection refused".to_owned() }
}

fn no_more() -> Failure {
    Failure { status: Status::ConnectFailed, errno: libc::EMFILE, reason: "Too many open files".to_owned() }
}

impl Network for Script {
    type Socket = Scripted;

    fn open(&mut self, endpoint: &Endpoint) -> Result<(Scripted, Progress), Failure> {
        if self.open.get() >= self.most {
            return Err(no_more());
        }
        let port = endpoint.port().unwrap();
        let progress = match self.fates.get(&port) {
            Some(RefusedAtOnce) => return Err(refused()),
            Some(RoomAfter(_)) => Progress::Full,
            _ => Progress::UnderWay,
        };
        self.open.set(self.open.get() + 1);
        Ok((Scripted { port, began: self.now.get(), open: Rc::clone(&self.open) }, progress))
    }

    fn again(&mut self, socket: &Scripted, _: &Endpoint) -> Result<Progress, Failure> {
        self.asked.set(self.asked.get() + 1);
        let took = self.now.get() - socket.began;
        match self.fates[&socket.port] {
            RoomAfter(ms) if took >= Duration::from_millis(ms) => Ok(Progress::Connected),
            RoomAfter(_) if took >= Duration::from_millis(GONE) => Err(refused()),
            RoomAfter(_) => Ok(Progress::Full),
            _ => panic!("asked again, but its socket tells"),
        }
    }

    fn outcome(&mut self, socket: &Scripted, _: &Endpoint) -> Option<Result<(), Failure>> {
        let took = self.now.get() - socket.began;
        let at = |ms| took >= Duration::from_millis(ms);
        match self.fates.get(&socket.port)? {
            RefusedAfter(ms) if at(*ms) => Some(Err(refused())),
            ConnectedAfter(ms) if at(*ms) => Some(Ok(())),
            // Ready at once though it is not connected, as such a socket is for poll(2).
            RoomAfter(_) => Some(Ok(())),
            _ => None,
        }
    }
}

/// A race whose clock stands still between steps. Its addresses are known by their ports.
struct Scene {
    race: Race<Script>,
    began: Instant,
    now: Rc<Cell<Duration>>,
    open: Rc<Cell<usize>>,
    asked: Rc<Cell<usize>>,
}

const NONE: Option<u64> = None;

impl Scene {
    /// IPv6 if the port is below 10.
    fn new(fates: &[(u16, Option<Fate>)], timeout: Option<u64>) -> Scene {
        let (now, open, asked) = (Rc::new(Cell::new(Duration::ZERO)), Rc::default(), Rc::<Cell<usize>>::default());
        let script = Script {
            fates: fates.iter().filter_map(|(port, fate)| Some((*port, (*fate)?))).collect(),
            now: Rc::clone(&now),
            open: Rc::clone(&open),
            most: usize::MAX,
            asked: Rc::clone(&asked),
        };
        let address = |port: &u16| match port {
            0..10 => Endpoint::Ip(SocketAddr::from(([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], *port))),
            _ => Endpoint::Ip(SocketAddr::from(([192, 0, 2, 1], *port))),
        };
        let addresses = fates.iter().map(|(port, _)| address(port)).collect();
        let timeout = timeout.map(Duration::from_millis);
        let race = Race::new(script, addresses, Duration::from_millis(250), timeout);
        Scene { race, began: Instant::now(), now, open, asked }
    }

    /// The port that won; `Pending`, `Failed`.
    fn step(&mut self, at: u64) -> String {
        self.step_beside(at, false)
    }

    /// `frees`: a descriptor of something else is closed by the next step.
    fn step_beside(&mut self, at: u64, frees: bool) -> String {
        self.now.set(Duration::from_millis(at));
        self.race.close_spent();
        let mut step = Step::Begun;
        while let Step::Begun = step {
            step = self.race.step(self.began + self.now.get(), true, frees);
        }
        match step {
            Step::Begun => unreachable!(),
            Step::Connected(socket) => format!("{} won", socket.port),
            Step::Pending => "pending".to_owned(),
            Step::Failed => "failed".to_owned(),
        }
    }

    /// Milliseconds from the begin.
    fn next(&self) -> Option<u64> {
        self.race.next_time().map(|time| self.ms(time))
    }

    fn ms(&self, time: Instant) -> u64 {
        u64::try_from((time - self.began).as_millis()).unwrap()
    }

    /// Steps whenever the timer or the script has something, to the end; by the millisecond.
    fn run(&mut self) -> String {
        for at in 0..100_000 {
            let answer = self.step(at);
            if answer != "pending" {
                return format!("{answer} at {at}");
            }
            assert!(self.next().is_none_or(|next| next > at), "the timer stands still");
        }
        "still pending".to_owned()
    }

    /// Port, begin, end and status of each attempt.
    fn report(&self) -> String {
        let line = |attempt: &Attempt<Scripted>| {
            let end = attempt.ended.map_or("-".to_owned(), |ended| self.ms(ended).to_string());
            format!("{} {}-{end} {:?}", attempt.port().unwrap(), self.ms(attempt.began), attempt.status())
        };
        self.race.attempts.iter().map(line).collect::<Vec<_>>().join(", ")
    }
}

#[test]
fn who_wins_and_when() {
    type Row = (&'static [(u16, Option<Fate>)], Option<u64>, &'static str, &'static str);
    let rows: &[Row] = &[
        // A black-holed IPv6 address beside a good IPv4 one.
        (&[(1, None), (11, Some(ConnectedAfter(30)))], NONE, "11 won at 280", "1 0-280 Closed, 11 250-280 Ok"),
        // Two that refuse before a good one: no stagger passes.
        (
            &[(1, Some(RefusedAtOnce)), (2, Some(RefusedAtOnce)), (3, Some(ConnectedAfter(5)))],
            NONE,
            "3 won at 5",
            "1 0-0 ConnectFailed, 2 0-0 ConnectFailed, 3 0-5 Ok",
        ),
        (
            &[(1, Some(RefusedAfter(40))), (2, Some(RefusedAfter(40))), (3, Some(ConnectedAfter(40)))],
            NONE,
            "3 won at 120",
            "1 0-40 ConnectFailed, 2 40-80 ConnectFailed, 3 80-120 Ok",
        ),
        // Two that are silent before a good one.
        (
            &[(1, None), (2, None), (3, Some(ConnectedAfter(0)))],
            NONE,
            "3 won at 500",
            "1 0-500 Closed, 2 250-500 Closed, 3 500-500 Ok",
        ),
        // A lone good one that takes its time.
        (&[(1, Some(ConnectedAfter(900)))], NONE, "1 won at 900", "1 0-900 Ok"),
        (
            &[(1, Some(ConnectedAfter(900))), (11, None), (2, Some(RefusedAfter(1)))],
            NONE,
            "1 won at 900",
            "1 0-900 Ok, 11 250-900 Closed, 2 500-501 ConnectFailed",
        ),
        // Who began later may win.
        (
            &[(1, Some(ConnectedAfter(400))), (11, Some(ConnectedAfter(100)))],
            NONE,
            "11 won at 350",
            "1 0-350 Closed, 11 250-350 Ok",
        ),
        // At the same moment the earlier one does.
        (
            &[(1, Some(ConnectedAfter(300))), (11, Some(ConnectedAfter(50)))],
            NONE,
            "1 won at 300",
            "1 0-300 Ok, 11 250-300 Closed",
        ),
        // A failure of an earlier attempt does not hurry the next: the last one has its stagger.
        (
            &[(1, Some(RefusedAfter(251))), (2, None), (3, Some(ConnectedAfter(0)))],
            NONE,
            "3 won at 500",
            "1 0-251 ConnectFailed, 2 250-500 Closed, 3 500-500 Ok",
        ),
        // The families alternate.
        (
            &[(1, None), (2, None), (11, None), (12, Some(ConnectedAfter(0)))],
            NONE,
            "12 won at 750",
            "1 0-750 Closed, 11 250-750 Closed, 2 500-750 Closed, 12 750-750 Ok",
        ),
        // The timeout is each attempt's own, and moves the race on.
        (
            &[(1, None), (2, None), (3, Some(ConnectedAfter(90)))],
            Some(100),
            "3 won at 290",
            "1 0-100 ConnectTimeout, 2 100-200 ConnectTimeout, 3 200-290 Ok",
        ),
        (&[(1, None), (2, None)], Some(600), "failed at 850", "1 0-600 ConnectTimeout, 2 250-850 ConnectTimeout"),
        (&[(1, None), (2, None)], Some(0), "failed at 0", "1 0-0 ConnectTimeout, 2 0-0 ConnectTimeout"),
        // An answer that came with the timeout counts.
        (&[(1, Some(ConnectedAfter(100)))], Some(100), "1 won at 100", "1 0-100 Ok"),
        (
            &[(1, Some(RefusedAtOnce)), (2, Some(RefusedAfter(10)))],
            NONE,
            "failed at 10",
            "1 0-0 ConnectFailed, 2 0-10 ConnectFailed",
        ),
        (&[], NONE, "failed at 0", ""),
    ];
    for (fates, timeout, end, report) in rows {
        let mut scene = Scene::new(fates, *timeout);
        assert_eq!(scene.run(), *end, "{report}");
        assert_eq!(scene.report(), *report);
        assert_eq!(scene.race.next_time(), None.filter(|_: &Instant| true), "{end}");
        drop(scene.race.spent.drain(..));
        assert_eq!(scene.open.get(), 0, "{end}");
    }
}

#[test]
fn the_stagger_is_exact() {
    assert_eq!(ConnectOptions::default().stagger, Duration::from_millis(250));
    let mut scene = Scene::new(&[(1, None), (2, None), (3, None)], Some(700));
    assert_eq!((scene.step(0), scene.next()), ("pending".to_owned(), Some(250)));
    scene.step(249);
    assert_eq!(scene.report(), "1 0-- WantWrite");
    scene.step(250);
    assert_eq!(scene.report(), "1 0-- WantWrite, 2 250-- WantWrite");
    // A step that comes late begins one attempt, not all that would have had their turn.
    scene.step(660);
    assert_eq!(scene.report(), "1 0-- WantWrite, 2 250-- WantWrite, 3 660-- WantWrite");
    assert_eq!(scene.next(), Some(700));
    scene.step(700);
    assert_eq!(scene.next(), Some(950));
    scene.step(2000);
    assert_eq!(scene.report(), "1 0-700 ConnectTimeout, 2 250-2000 ConnectTimeout, 3 660-2000 ConnectTimeout");
    assert_eq!(scene.next(), None);
}

#[test]
fn without_a_timeout_only_answers_end_a_race() {
    let mut scene = Scene::new(&[(1, None)], NONE);
    for at in 0..1000 {
        assert_eq!(scene.step(at * 1000), "pending");
        assert_eq!((scene.open.get(), scene.race.attempts.len(), scene.race.spent.len()), (1, 1, 0));
        assert_eq!(scene.next(), None);
    }
}

#[test]
fn a_socket_is_closed_one_step_after_its_attempt_ended() {
    let mut scene = Scene::new(&[(1, Some(RefusedAfter(10))), (2, None), (3, None)], Some(5000));
    scene.step(0);
    assert_eq!(scene.open.get(), 1);
    scene.step(10);
    assert_eq!((scene.report(), scene.open.get()), ("1 0-10 ConnectFailed, 2 10-- WantWrite".to_owned(), 2));
    scene.step(11);
    assert_eq!(scene.open.get(), 1);
}

#[test]
fn an_address_waits_for_a_descriptor_that_the_race_gives_back() {
    let scene = |most, fates: &[(u16, Option<Fate>)], timeout| {
        let mut scene = Scene::new(fates, timeout);
        scene.race.network.most = most;
        scene
    };
    let pending = || "pending".to_owned();
    // That of a failed attempt is closed by the next step, which is due at once.
    let mut one = scene(1, &[(1, Some(RefusedAfter(10))), (2, Some(ConnectedAfter(5))), (3, None)], NONE);
    assert_eq!((one.step(0), one.next()), (pending(), Some(250)));
    assert_eq!((one.step(10), one.next()), (pending(), Some(10)));
    assert_eq!((one.step(11), one.next()), (pending(), Some(261)));
    assert_eq!(one.step(16), "2 won");
    assert_eq!(one.report(), "1 0-10 ConnectFailed, 2 11-16 Ok");
    // Those of attempts under way are asked for a stagger later, or when one has ended.
    let mut one = scene(1, &[(1, Some(RefusedAfter(600))), (2, Some(ConnectedAfter(5)))], NONE);
    one.step(0);
    for (at, next) in [(250, Some(500)), (499, Some(500)), (500, Some(750)), (600, Some(600)), (600, None)] {
        assert_eq!((one.step(at), one.next()), (pending(), next), "{at}");
    }
    assert_eq!(one.step(605), "2 won");
    assert_eq!(one.report(), "1 0-600 ConnectFailed, 2 600-605 Ok");
    // So are those of others, of which there is no hope when nothing of this connect is left.
    let mut none = scene(0, &[(1, None), (2, None)], NONE);
    assert_eq!((none.step_beside(0, true), none.next(), none.report()), (pending(), Some(0), String::new()));
    assert_eq!(
        (none.step(0), none.report()),
        ("failed".to_owned(), "1 0-0 ConnectFailed, 2 0-0 ConnectFailed".to_owned())
    );
    let mut later = scene(0, &[(1, None)], NONE);
    later.step_beside(0, true);
    later.race.network.most = 1;
    assert_eq!((later.step(0), later.report()), (pending(), "1 0-- WantWrite".to_owned()));
}

#[test]
fn the_error_has_a_cause_for_each_address() {
    let mut scene = Scene::new(&[(1, None), (11, Some(RefusedAfter(1))), (2, Some(RefusedAtOnce))], Some(300));
    assert_eq!(scene.run(), "failed at 300");
    let error = scene.race.error("name.test port 80");
    assert_eq!((error.status(), error.errno()), (Status::ConnectTimeout, 0));
    let expected = "cannot connect to name.test port 80, 3 addresses tried, the last: the connect timeout passed";
    assert_eq!(error.message(), expected);
    let causes: Vec<_> = error.causes().iter().map(|cause| (cause.errno(), cause.message())).collect();
    let expected = [
        (0, "2001:db8::1 port 1: the connect timeout passed (after 0.300 s)"),
        (libc::ECONNREFUSED, "192.0.2.1 port 11: Connection refused (after 0.001 s)"),
        (libc::ECONNREFUSED, "2001:db8::1 port 2: Connection refused (after 0.000 s)"),
    ];
    assert_eq!(causes, expected);
}

#[test]
fn what_stops_a_race_is_told_of_each_attempt_under_way() {
    let mut scene = Scene::new(&[(1, None), (11, Some(RefusedAfter(1))), (2, None)], NONE);
    scene.step(0);
    scene.step(250);
    scene.step(251);
    let stop = Error::new(Status::Cancelled, "the limit was cancelled");
    scene.race.stop(&stop, scene.began + Duration::from_millis(300));
    assert_eq!(scene.report(), "1 0-300 Cancelled, 11 250-251 ConnectFailed, 2 251-300 Cancelled");
    scene.race.close_spent();
    assert_eq!(scene.open.get(), 0);
    let error = scene.race.error("name.test port 80");
    let statuses: Vec<_> = error.causes().iter().map(|cause| cause.status()).collect();
    assert_eq!(error.status(), Status::Cancelled);
    assert_eq!(statuses, [Status::Cancelled, Status::ConnectFailed, Status::Cancelled]);
}

#[test]
fn a_full_backlog_is_asked_by_the_timer() {
    let mut scene = Scene::new(&[(1, Some(RoomAfter(12))), (11, None)], NONE);
    for (at, answer, next, asked) in [
        (0, "pending", Some(5), 0),
        // An early step asks nothing.
        (4, "pending", Some(5), 0),
        (5, "pending", Some(10), 1),
        (5, "pending", Some(10), 1),
        // A late one asks once.
        (11, "pending", Some(16), 2),
        (16, "1 won", None, 3),
    ] {
        assert_eq!((scene.step(at).as_str(), scene.asked.get()), (answer, asked), "at {at}");
        assert_eq!(scene.race.telling().count(), 0);
        if let Some(next) = next {
            assert_eq!(scene.next(), Some(next), "at {at}");
        }
    }
    assert_eq!(scene.report(), "1 0-16 Ok");
    for (fates, timeout, end, report) in [
        (
            [(1, Some(RoomAfter(999))), (11, None)],
            Some(32),
            "failed at 64",
            "1 0-32 ConnectTimeout, 11 32-64 ConnectTimeout",
        ),
        // Others have their turn meanwhile, and may win.
        (
            [(1, Some(RoomAfter(999))), (11, Some(ConnectedAfter(9)))],
            NONE,
            "11 won at 259",
            "1 0-259 Closed, 11 250-259 Ok",
        ),
        // It may fail while it is asked.
        (
            [(1, Some(RoomAfter(999))), (11, None)],
            Some(420),
            "failed at 670",
            "1 0-400 ConnectFailed, 11 250-670 ConnectTimeout",
        ),
        (
            [(1, Some(RoomAfter(0))), (11, None)],
            Some(0),
            "failed at 0",
            "1 0-0 ConnectTimeout, 11 0-0 ConnectTimeout",
        ),
    ] {
        let mut scene = Scene::new(&fates, timeout);
        assert_eq!(scene.run(), end);
        assert_eq!(scene.report(), report);
        assert_eq!(scene.race.next_time(), None);
    }
}

/* Connects: their lookups are the test's, their sockets real. */
