//! A file of words that the processes of a host map into their memory.
//!
//! The file consists of words in the byte order of the host: a header of [`HEADER`] words, then one word of each
//! [`WordKind`] for each slot. The hash of a key selects its slot. A slot holds no key, so colliding keys share it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use siphasher::sip::SipHasher24;

use super::mapping::{self, Mapping};
use super::{Change, WordKey, WordKind, unavailable};
use crate::error::{Error, Result};
use crate::fork;
use crate::overload::key_table::check_key;
use crate::socket::sys;
use crate::status::Status;

/// The first word of a file. A host with another byte order reads another number, and refuses the file.
const MAGIC: u64 = u64::from_be_bytes(*b"netlibst");
const FORMAT: u64 = 1;

/// The indexes of the words in the header.
const AT_MAGIC: usize = 0;
const AT_FORMAT: usize = 1;
const AT_SLOTS: usize = 2;
const AT_SEED: usize = 3;
const AT_BOOT_ID: usize = 5;
const HEADER: usize = 8;

/// The maximum number of slots: a file of 16 MiB.
const MAX_SLOTS: usize = 1 << 20;

/// The maximum time to wait for another process that creates or checks the file. That usually takes a few milliseconds.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(5);

/// The maximum number of tries of one update. Between two tries of one thread, another thread has made progress.
const MAX_TRIES: usize = 100_000;

pub(super) struct MappedFile {
    mapping: Mapping,
    slots: usize,
    seed: [u64; 2],
}

impl MappedFile {
    /// Opens a file, or creates it with the mode 0600.
    pub(super) fn open(path: &Path, slots: usize) -> Result<MappedFile> {
        if !(1..=MAX_SLOTS).contains(&slots) {
            let message = format!("slots must be 1 to {MAX_SLOTS}; it is {slots}");
            return Err(Error::new(Status::InvalidArgument, message));
        }
        let file = open_file(path)?;
        check_file(path, &file)?;
        let _lock = Lock::take(path, &file)?;
        if size_of_file(path, &file)? <= size_for(slots) && is_blank(path, &file)? {
            fill_new_file(path, &file, slots)?;
        }
        let header = read_header(path, &file)?;
        check_header(path, &file, &header, slots)?;
        mapping::reserve(&file, size_for(slots)).map_err(|error| io_error("reserve the blocks of", path, &error))?;
        let mapping = Mapping::new(&file, word_count(slots)).map_err(|error| io_error("map", path, &error))?;
        reset_after_boot(mapping.words(), &header, boot_id());
        Ok(MappedFile { mapping, slots, seed: [header[AT_SEED], header[AT_SEED + 1]] })
    }

    pub(super) fn update(&self, word: WordKey<'_>, change: &mut Change<'_>) -> Result<()> {
        check_key(word.key)?;
        let slot = hash(self.seed, word.key) % self.slots as u64;
        let index = HEADER + slot as usize * WordKind::COUNT + word.kind as usize;
        let place = &self.mapping.words()[index];
        let mut current = place.load(Ordering::Relaxed);
        for _ in 0..MAX_TRIES {
            let now = (sys::monotonic_seconds() * 1e9) as u64;
            let Some(next) = change(current, now) else { return Ok(()) };
            // The word is the whole state, so no other memory must become visible with it.
            match place.compare_exchange_weak(current, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(actual) => current = actual,
            }
        }
        Err(unavailable(format!("the word was changed by others during each of {MAX_TRIES} tries")))
    }
}

/// Returns the hash that selects the slot of a key. All versions of netlib that map the same file must use this hash.
fn hash(seed: [u64; 2], key: &[u8]) -> u64 {
    SipHasher24::new_with_keys(seed[0], seed[1]).hash(key)
}

/// Opens a file without following a symbolic link, and without waiting for the other end of a FIFO.
fn open_file(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => refused(path, "it is a symbolic link"),
            _ => io_error("open", path, &error),
        })
}

/// Refuses a file that another user can change or replace.
fn check_file(path: &Path, file: &File) -> Result<()> {
    let metadata = file.metadata().map_err(|error| io_error("examine", path, &error))?;
    if !metadata.is_file() {
        return Err(refused(path, "it is not a regular file"));
    }
    // Another user may be allowed to make a hard link to a file of this user in a directory that both can write to.
    if metadata.nlink() > 1 {
        return Err(refused(path, &format!("it has {} hard links", metadata.nlink())));
    }
    let (owner, user, mode) = (metadata.uid(), mapping::effective_user(), metadata.mode() & 0o7777);
    if owner != user {
        return Err(refused(path, &format!("it belongs to the user {owner}, not to the effective user {user}")));
    }
    // Even a process that may only read the file can lock it.
    if mode & 0o077 != 0 {
        return Err(refused(path, &format!("its mode {mode:04o} lets its group or others open it")));
    }
    Ok(())
}

/// The lock of a file, while the file is created or checked. Using the words needs no lock. Forks are delayed until the
/// lock is released, because a forked child would keep the lock.
struct Lock<'a> {
    file: &'a File,
    _delay: fork::Delay,
}

impl<'a> Lock<'a> {
    fn take(path: &Path, file: &'a File) -> Result<Lock<'a>> {
        let until = Instant::now() + MAX_LOCK_WAIT;
        loop {
            let delay = fork::delay();
            if mapping::try_lock(file).map_err(|error| io_error("lock", path, &error))? {
                return Ok(Lock { file, _delay: delay });
            }
            // Forks need not wait while this thread waits for another process.
            drop(delay);
            if Instant::now() >= until {
                let message = format!("another process has locked it for {} seconds", MAX_LOCK_WAIT.as_secs());
                return Err(refused(path, &message));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        mapping::unlock(self.file);
    }
}

/// Reads the header of a file; missing bytes are 0.
fn read_header(path: &Path, file: &File) -> Result<[u64; HEADER]> {
    let mut bytes = [0; HEADER * size_of::<u64>()];
    file.read_at(&mut bytes, 0).map_err(|error| io_error("read", path, &error))?;
    let (words, _) = bytes.as_chunks::<{ size_of::<u64>() }>();
    Ok(std::array::from_fn(|index| words.get(index).map_or(0, |word| u64::from_ne_bytes(*word))))
}

/// Returns whether a file is empty or contains only zeros: it is new, or its creator died before it wrote the header.
fn is_blank(path: &Path, file: &File) -> Result<bool> {
    let mut buffer = [0; 4096];
    let mut at = 0;
    loop {
        let n = file.read_at(&mut buffer, at).map_err(|error| io_error("read", path, &error))?;
        if n == 0 {
            return Ok(true);
        }
        if buffer[..n].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += n as u64;
    }
}

/// Writes the words and the header of a new file.
fn fill_new_file(path: &Path, file: &File, slots: usize) -> Result<()> {
    let write = |bytes: &[u8], at: u64| file.write_all_at(bytes, at).map_err(|error| io_error("write", path, &error));
    // Writing zeros reserves the blocks, also on systems on which `reserve` cannot.
    let zeros = [0; 4096];
    for at in (0..size_for(slots)).step_by(zeros.len()) {
        let length = (size_for(slots) - at).min(zeros.len() as u64);
        write(&zeros[..length as usize], at)?;
    }
    let mut seed = [0; 16];
    getrandom::fill(&mut seed)
        .map_err(|error| Error::new(Status::Io, format!("the system provided no random number: {error}")))?;
    let mut header = [0; HEADER];
    (header[AT_MAGIC], header[AT_FORMAT], header[AT_SLOTS]) = (MAGIC, FORMAT, slots as u64);
    header[AT_SEED..AT_SEED + 2].copy_from_slice(&two_words(seed));
    header[AT_BOOT_ID..AT_BOOT_ID + 2].copy_from_slice(&boot_id().unwrap_or_default());
    // The header is written last and at once, because it marks the file as complete.
    write(header.map(u64::to_ne_bytes).as_flattened(), 0)
}

/// Refuses a file that another program wrote, or that has another format or size.
fn check_header(path: &Path, file: &File, header: &[u64; HEADER], slots: usize) -> Result<()> {
    let problem = match (header[AT_MAGIC], header[AT_FORMAT], header[AT_SLOTS]) {
        (MAGIC, FORMAT, found) if found != slots as u64 => format!("it has {found} slots, not {slots}"),
        (MAGIC, FORMAT, _) => {
            let (found, expected) = (size_of_file(path, file)?, size_for(slots));
            if found == expected {
                return Ok(());
            }
            format!("it has {found} bytes, but {slots} slots need {expected}")
        }
        (MAGIC, format, _) => format!("its format is {format}; this version of netlib supports only {FORMAT}"),
        _ => "it is not a store file of this host".to_owned(),
    };
    Err(refused(path, &problem))
}

fn size_of_file(path: &Path, file: &File) -> Result<u64> {
    Ok(file.metadata().map_err(|error| io_error("examine", path, &error))?.len())
}

fn word_count(slots: usize) -> usize {
    HEADER + slots * WordKind::COUNT
}

fn size_for(slots: usize) -> u64 {
    (word_count(slots) * size_of::<u64>()) as u64
}

/// Sets all words to 0 if they were written before the last start of the machine, because the clock has started again
/// at 0.
fn reset_after_boot(words: &[AtomicU64], header: &[u64; HEADER], boot_id: Option<[u64; 2]>) {
    let Some(boot_id) = boot_id.filter(|id| *id != header[AT_BOOT_ID..AT_BOOT_ID + 2]) else { return };
    let (header, states) = words.split_at(HEADER);
    states.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    // The boot id is stored last. If the process dies before, the next process resets the words again.
    header[AT_BOOT_ID].store(boot_id[0], Ordering::Release);
    header[AT_BOOT_ID + 1].store(boot_id[1], Ordering::Release);
}

/// Returns the identity of the current boot of the machine; `None` if the system does not provide it. In this case, no
/// words are reset, and the functions that change the words replace times that are too far in the future.
fn boot_id() -> Option<[u64; 2]> {
    let text = fs::read("/proc/sys/kernel/random/boot_id").ok()?;
    let digits = text.iter().filter_map(|byte| (*byte as char).to_digit(16));
    let mut id = [0u64; 2];
    let count = digits.zip(0..32).map(|(digit, at)| id[at / 16] = id[at / 16] << 4 | u64::from(digit)).count();
    (count == 32).then_some(id)
}

fn two_words(bytes: [u8; 16]) -> [u64; 2] {
    let number = u128::from_ne_bytes(bytes);
    [(number >> 64) as u64, number as u64]
}

fn refused(path: &Path, problem: &str) -> Error {
    unavailable(format!("the store file {} is refused: {problem}", path.display()))
}

fn io_error(verb: &str, path: &Path, error: &io::Error) -> Error {
    Error::from_io(Status::Io, format!("cannot {verb} the store file {}", path.display()), error)
}

#[cfg(test)]
mod tests;
