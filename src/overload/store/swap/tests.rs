use super::*;
use crate::overload::store::{SharedStore, SharedUpdate, Store, UnavailablePolicy};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const WORD: WordKey<'static> = WordKey { kind: WordKind::Rate, key: b"origin", time_to_live: 3.0 };

/// The requests that a callback got: key, expected, desired.
type Requests = Arc<Mutex<Vec<(String, u64, u64)>>>;

/// Returns a callback that answers from a list, and its requests.
fn scripted(answers: Vec<Result<(SwapResult, f64)>>) -> (Swap, Requests) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (answers, log) = (Mutex::new(answers.into_iter()), Arc::clone(&seen));
    let swap: Swap = Box::new(move |request| {
        assert!(request.time_to_live == 3.0 && request.timeout > 0.0 && request.timeout <= 1.0);
        let key = String::from_utf8(request.key.to_vec()).unwrap();
        log.lock().unwrap().push((key, request.expected, request.desired));
        let (result, now) = answers.lock().unwrap().next().unwrap()?;
        Ok(SwapAnswer { result, now })
    });
    (swap, seen)
}

fn store(swap: Swap) -> SwapStore {
    SwapStore::new(swap, 1.0).unwrap()
}

fn add_one(word: u64, _now: u64) -> Option<u64> {
    Some(word + 1)
}

#[test]
fn an_update_reads_and_then_swaps_until_no_other_change_comes_between() {
    use SwapResult::{Changed, Swapped};
    for (answers, requests, last_time) in [
        (vec![Ok((Swapped, 1.0)), Ok((Swapped, 2.0))], vec![(0, 0), (0, 1)], 1_000_000_000),
        (vec![Ok((Changed(7), 1.0)), Ok((Swapped, 2.0))], vec![(0, 0), (7, 8)], 1_000_000_000),
        (
            vec![Ok((Changed(7), 1.0)), Ok((Changed(9), 0.5)), Ok((Swapped, 2.0))],
            vec![(0, 0), (7, 8), (9, 10)],
            500_000_000,
        ),
        (
            vec![Ok((Changed(7), 1.0)), Ok((Changed(0), 1.5)), Ok((Swapped, 2.0))],
            vec![(0, 0), (7, 8), (0, 1)],
            1_500_000_000,
        ),
    ] {
        let (swap, seen) = scripted(answers);
        let mut time = 0;
        let mut change = |word, now| {
            time = now;
            add_one(word, now)
        };
        store(swap).update(WORD, None, Instant::now, &mut change).unwrap();
        assert_eq!(time, last_time);
        let seen: Vec<_> = seen.lock().unwrap().iter().map(|(_, expected, desired)| (*expected, *desired)).collect();
        assert_eq!(seen, requests);
    }
}

#[test]
fn an_update_that_leaves_the_word_unchanged_calls_the_store_once() {
    for keep in [|_: u64, _: u64| None, |word: u64, _: u64| Some(word)] {
        let (swap, seen) = scripted(vec![Ok((SwapResult::Changed(5), 1.0))]);
        store(swap).update(WORD, None, Instant::now, &mut { keep }).unwrap();
        assert_eq!(*seen.lock().unwrap(), [("rate:origin".to_owned(), 0, 0)]);
    }
}

#[test]
fn words_of_different_kinds_have_different_keys() {
    let longest = [b'k'; MAX_KEY_LENGTH];
    for (kind, key, expected) in [
        (WordKind::Rate, &b""[..], "rate:".to_owned()),
        (WordKind::Budget, b"a", "budget:a".to_owned()),
        (WordKind::Budget, &longest, format!("budget:{}", "k".repeat(MAX_KEY_LENGTH))),
    ] {
        let (swap, seen) = scripted(vec![Ok((SwapResult::Changed(5), 1.0))]);
        let word = WordKey { kind, key, time_to_live: 3.0 };
        store(swap).update(word, None, Instant::now, &mut |_, _| None).unwrap();
        assert_eq!(seen.lock().unwrap()[0].0, expected);
    }
    let (swap, _) = scripted(Vec::new());
    let word = WordKey { key: &[b'k'; MAX_KEY_LENGTH + 1], ..WORD };
    let error = store(swap).update(word, None, Instant::now, &mut add_one).unwrap_err();
    assert_eq!(error.message(), "key has 1025 bytes; it must have at most 1024");
}

#[test]
fn invalid_answers_of_a_swap_callback_are_errors() {
    let time = |now: f64| vec![Ok((SwapResult::Changed(1), now))];
    for (answers, message) in [
        (time(f64::NAN), "the swap callback reported the time NaN; it must report 0 to 18000000000 seconds"),
        (time(f64::INFINITY), "the swap callback reported the time inf; it must report 0 to 18000000000 seconds"),
        (time(-1.0), "the swap callback reported the time -1; it must report 0 to 18000000000 seconds"),
        (time(1.9e10), "the swap callback reported the time 19000000000; it must report 0 to 18000000000 seconds"),
        (vec![Ok((SwapResult::Changed(0), 1.0))], "the swap callback reported that the word changed from 0 to 0"),
        (
            vec![Ok((SwapResult::Changed(5), 1.0)), Ok((SwapResult::Changed(5), 1.0))],
            "the swap callback reported that the word changed from 5 to 5",
        ),
        (vec![Err(Error::new(Status::CallbackFailed, "no"))], "no"),
    ] {
        let (swap, _) = scripted(answers);
        let error = store(swap).update(WORD, None, Instant::now, &mut add_one).unwrap_err();
        assert_eq!((error.status(), error.message()), (Status::CallbackFailed, message));
    }
}

#[test]
fn a_word_that_changes_during_each_of_64_calls_makes_the_store_unavailable() {
    let answers = (1..=MAX_CALLS as u64).map(|word| Ok((SwapResult::Changed(word), 1.0))).collect();
    let (swap, seen) = scripted(answers);
    let error = store(swap).update(WORD, None, Instant::now, &mut add_one).unwrap_err();
    let message = "the word was changed by others during each of 64 calls of the swap callback";
    assert_eq!((error.status(), error.message()), (Status::StoreUnavailable, message));
    assert_eq!(seen.lock().unwrap().len(), MAX_CALLS);
}

#[test]
fn the_callback_is_not_called_after_the_deadline() {
    let start = Instant::now();
    for (deadline, expected_timeout) in
        [(None, 1.0), (Some(start + Duration::from_secs(9)), 1.0), (Some(start + Duration::from_millis(250)), 0.25)]
    {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let swap: Swap = Box::new(move |request| {
            log.lock().unwrap().push(request.timeout);
            Ok(SwapAnswer { result: SwapResult::Changed(request.expected + 1), now: 1.0 })
        });
        let calls = Mutex::new(0);
        let clock = || {
            *calls.lock().unwrap() += 1;
            if *calls.lock().unwrap() == 1 { start } else { start + Duration::from_secs(60) }
        };
        let error = store(swap).update(WORD, deadline, clock, &mut add_one).unwrap_err();
        let message = "the store's time was up after 1 calls of the swap callback";
        assert_eq!((error.status(), error.message()), (Status::StoreUnavailable, message));
        let timeouts = seen.lock().unwrap().clone();
        assert!(timeouts.len() == 1 && (timeouts[0] - expected_timeout).abs() < 0.05, "{timeouts:?}");
    }
}

#[test]
fn a_timeout_of_0_a_negative_one_and_nan_are_refused() {
    for timeout in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        let error = SwapStore::new(scripted(Vec::new()).0, timeout).err().unwrap();
        let message = format!("timeout must be more than 0, or NETLIB_TIMEOUT_NONE; it is {timeout}");
        assert_eq!((error.status(), error.message()), (Status::InvalidArgument, message.as_str()));
    }
    assert!(SwapStore::new(scripted(Vec::new()).0, f64::INFINITY).is_ok());
}

#[test]
fn the_policy_decides_only_while_the_store_is_unavailable() {
    use UnavailablePolicy::{Closed, Local, Open};
    let update = |answer: Result<(SwapResult, f64)>, policy| {
        let store = Arc::new(Store::from_swap(scripted(vec![answer]).0, 1.0).unwrap());
        SharedStore::new(store, policy).update(WORD, None, &mut |_, _| None).map_err(|error| error.status())
    };
    for (policy, expected) in [
        (Local, Ok(SharedUpdate::DecideLocally)),
        (Open, Ok(SharedUpdate::Grant)),
        (Closed, Err(Status::StoreUnavailable)),
    ] {
        assert_eq!(update(Ok((SwapResult::Unavailable, f64::NAN)), policy), expected);
        assert_eq!(update(Ok((SwapResult::Swapped, 1.0)), policy), Ok(SharedUpdate::Updated));
        let failed = Error::new(Status::CallbackFailed, "no");
        assert_eq!(update(Err(failed), policy), Err(Status::CallbackFailed));
        assert_eq!(UnavailablePolicy::from_code(policy as i32), Some(policy));
    }
    assert_eq!((UnavailablePolicy::from_code(3), UnavailablePolicy::from_code(-1)), (None, None));
}
