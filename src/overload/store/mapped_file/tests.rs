use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A new empty directory, which is removed when the value is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("netlib-store-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Directory(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("words")
    }

    /// Writes the file, which only its owner may open.
    fn write(&self, bytes: &[u8]) -> File {
        let file = File::create(self.file()).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
        file.write_all_at(bytes, 0).unwrap();
        file
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn word(kind: WordKind, key: &[u8]) -> WordKey<'_> {
    WordKey { kind, key, time_to_live: 1.0 }
}

fn set(file: &MappedFile, kind: WordKind, key: &[u8], value: u64) {
    file.update(word(kind, key), &mut |_, _| Some(value)).unwrap();
}

fn get(file: &MappedFile, kind: WordKind, key: &[u8]) -> u64 {
    let mut found = 0;
    file.update(word(kind, key), &mut |word, _| {
        found = word;
        None
    })
    .unwrap();
    found
}

/// Opens the file of a directory and returns the error, with "PATH" instead of the path.
fn refusal(directory: &Directory, slots: usize) -> (Status, String) {
    let error = MappedFile::open(&directory.file(), slots).err().unwrap();
    (error.status(), error.message().replace(directory.file().to_str().unwrap(), "PATH"))
}

fn patch(directory: &Directory, at: usize, value: u64) {
    let file = OpenOptions::new().write(true).open(directory.file()).unwrap();
    file.write_all_at(&value.to_ne_bytes(), (at * 8) as u64).unwrap();
}

#[test]
fn the_hash_is_that_of_the_reference_implementation_of_siphash_2_4() {
    // The key is the bytes 0 to 15, and the input is the bytes 0 to n - 1.
    let seed = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908];
    let input: Vec<u8> = (0..15).collect();
    for (n, expected) in [
        (0, 0x726f_db47_dd0e_0e31),
        (1, 0x74f8_39c5_93dc_67fd),
        (7, 0xab02_00f5_8b01_d137),
        (8, 0x93f5_f579_9a93_2462),
        (15, 0xa129_ca61_49be_45e5),
    ] {
        assert_eq!(hash(seed, &input[..n]), expected, "{n}");
    }
}

#[test]
fn two_mappings_of_a_file_share_their_words() {
    let directory = Directory::new("share");
    let first = MappedFile::open(&directory.file(), 64).unwrap();
    let second = MappedFile::open(&directory.file(), 64).unwrap();
    set(&first, WordKind::Budget, b"a", 5);
    set(&second, WordKind::Rate, b"a", 6);
    assert_eq!((get(&second, WordKind::Budget, b"a"), get(&first, WordKind::Rate, b"a")), (5, 6));
    let metadata = fs::metadata(directory.file()).unwrap();
    assert_eq!((metadata.mode() & 0o7777, metadata.len()), (0o600, 64 + 64 * 16));
    // The blocks are reserved, so that a full disk cannot raise SIGBUS later.
    assert!(metadata.blocks() * 512 >= metadata.len());
    drop((first, second));
    let third = MappedFile::open(&directory.file(), 64).unwrap();
    assert_eq!((get(&third, WordKind::Budget, b"a"), get(&third, WordKind::Rate, b"a")), (5, 6));
}

#[test]
#[cfg(target_os = "linux")]
fn opening_a_file_with_holes_reserves_its_blocks() {
    let directory = Directory::new("holes");
    drop(MappedFile::open(&directory.file(), 4096).unwrap());
    let file = OpenOptions::new().read(true).write(true).open(directory.file()).unwrap();
    let mut header = [0; HEADER * 8];
    file.read_exact_at(&mut header, 0).unwrap();
    file.set_len(0).unwrap();
    file.set_len(64 + 4096 * 16).unwrap();
    file.write_all_at(&header, 0).unwrap();
    assert!(file.metadata().unwrap().blocks() * 512 < 64 + 4096 * 16);
    MappedFile::open(&directory.file(), 4096).unwrap();
    assert!(file.metadata().unwrap().blocks() * 512 >= 64 + 4096 * 16);
}

#[test]
fn keys_in_a_file_of_one_slot_share_a_word_of_each_kind() {
    let directory = Directory::new("collide");
    let file = MappedFile::open(&directory.file(), 1).unwrap();
    set(&file, WordKind::Budget, b"a", 5);
    assert_eq!((get(&file, WordKind::Budget, b"b"), get(&file, WordKind::Rate, b"a")), (5, 0));
}

#[test]
fn a_change_that_another_thread_overtakes_is_computed_again() {
    let directory = Directory::new("overtake");
    let file = MappedFile::open(&directory.file(), 4).unwrap();
    let mut calls = Vec::new();
    file.update(word(WordKind::Rate, b"a"), &mut |current, _| {
        if calls.is_empty() {
            set(&file, WordKind::Rate, b"a", 10);
        }
        calls.push(current);
        Some(current + 1)
    })
    .unwrap();
    assert_eq!((calls, get(&file, WordKind::Rate, b"a")), (vec![0, 10], 11));
}

#[test]
fn no_increment_of_four_threads_is_lost() {
    let directory = Directory::new("threads");
    let path = directory.file();
    let increment = || {
        let file = MappedFile::open(&path, 4).unwrap();
        for _ in 0..10_000 {
            file.update(word(WordKind::Rate, b"a"), &mut |current, _| Some(current + 1)).unwrap();
        }
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(increment))));
    assert_eq!(get(&MappedFile::open(&path, 4).unwrap(), WordKind::Rate, b"a"), 40_000);
}

#[test]
fn a_word_that_changes_during_every_try_makes_the_store_unavailable() {
    let directory = Directory::new("endless");
    let file = MappedFile::open(&directory.file(), 4).unwrap();
    let error = file
        .update(word(WordKind::Rate, b"a"), &mut |current, _| {
            set(&file, WordKind::Rate, b"a", current + 1);
            Some(0)
        })
        .unwrap_err();
    assert_eq!(error.message(), "the word was changed by others during each of 100000 tries");
}

#[test]
fn slots_outside_1_to_1048576_are_refused() {
    let directory = Directory::new("slots");
    for slots in [0, MAX_SLOTS + 1, usize::MAX] {
        let message = format!("slots must be 1 to 1048576; it is {slots}");
        assert_eq!(refusal(&directory, slots), (Status::InvalidArgument, message));
        assert!(!directory.file().exists());
    }
}

#[test]
fn a_file_with_a_wrong_header_or_size_is_refused_and_unchanged() {
    let directory = Directory::new("header");
    for (at, value, problem) in [
        (AT_MAGIC, MAGIC.swap_bytes(), "it is not a store file of this host"),
        (AT_MAGIC, 0, "it is not a store file of this host"),
        (AT_FORMAT, 2, "its format is 2; this version of netlib supports only 1"),
        (AT_SLOTS, 9, "it has 9 slots, not 8"),
    ] {
        let _ = fs::remove_file(directory.file());
        drop(MappedFile::open(&directory.file(), 8).unwrap());
        patch(&directory, at, value);
        let before = fs::read(directory.file()).unwrap();
        let message = format!("the store file PATH is refused: {problem}");
        assert_eq!(refusal(&directory, 8), (Status::StoreUnavailable, message));
        assert_eq!(fs::read(directory.file()).unwrap(), before);
    }
    for size in [191, 193, 64, 63, 8, 1] {
        let _ = fs::remove_file(directory.file());
        drop(MappedFile::open(&directory.file(), 8).unwrap());
        OpenOptions::new().write(true).open(directory.file()).unwrap().set_len(size).unwrap();
        let problem = match size {
            191 | 193 | 64 => format!("it has {size} bytes, but 8 slots need 192"),
            63 => "it has 63 bytes, but 8 slots need 192".to_owned(),
            8 => "its format is 0; this version of netlib supports only 1".to_owned(),
            _ => "it is not a store file of this host".to_owned(),
        };
        assert_eq!(refusal(&directory, 8).1, format!("the store file PATH is refused: {problem}"));
        assert_eq!(fs::metadata(directory.file()).unwrap().len(), size);
    }
}

#[test]
fn a_file_whose_creator_died_before_the_header_is_completed() {
    let directory = Directory::new("unfinished");
    for size in [0, 1, 64, 100, 192] {
        directory.write(&vec![0; size]);
        fs::set_permissions(directory.file(), fs::Permissions::from_mode(0o600)).unwrap();
        let file = MappedFile::open(&directory.file(), 8).unwrap();
        set(&file, WordKind::Rate, b"a", 1);
        assert_eq!(fs::metadata(directory.file()).unwrap().len(), 192);
        fs::remove_file(directory.file()).unwrap();
    }
    directory.write(&[0; 193]);
    assert_eq!(refusal(&directory, 8).1, "the store file PATH is refused: it is not a store file of this host");
    directory.write(&[vec![0; 100], vec![1]].concat());
    assert_eq!(refusal(&directory, 8).1, "the store file PATH is refused: it is not a store file of this host");
}

#[test]
fn a_file_that_others_can_change_or_replace_is_refused() {
    let directory = Directory::new("mode");
    let refused = |problem: &str| (Status::StoreUnavailable, format!("the store file PATH is refused: {problem}"));
    drop(MappedFile::open(&directory.file(), 8).unwrap());
    for (mode, problem) in [
        (0o620, "its mode 0620 lets its group or others open it"),
        (0o602, "its mode 0602 lets its group or others open it"),
        (0o640, "its mode 0640 lets its group or others open it"),
    ] {
        fs::set_permissions(directory.file(), fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(refusal(&directory, 8), refused(problem));
    }
    fs::set_permissions(directory.file(), fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(directory.file(), directory.0.join("link")).unwrap();
    assert_eq!(refusal(&directory, 8), refused("it has 2 hard links"));
    fs::remove_file(directory.0.join("link")).unwrap();
    drop(MappedFile::open(&directory.file(), 8).unwrap());
    fs::rename(directory.file(), directory.0.join("target")).unwrap();
    std::os::unix::fs::symlink(directory.0.join("target"), directory.file()).unwrap();
    assert_eq!(refusal(&directory, 8), refused("it is a symbolic link"));
    fs::remove_file(directory.file()).unwrap();
    fs::create_dir(directory.file()).unwrap();
    assert_eq!(refusal(&directory, 8), (Status::Io, "cannot open the store file PATH: Is a directory".to_owned()));
}

#[test]
fn words_from_before_the_machine_was_started_are_reset() {
    let id = [3, 4];
    for (boot_id, stored, expected) in [
        (Some(id), id, [7, 8]),
        (Some(id), [3, 5], [0, 0]),
        (Some(id), [5, 4], [0, 0]),
        (Some(id), [0, 0], [0, 0]),
        (None, [3, 5], [7, 8]),
    ] {
        let mut header = [0; HEADER];
        header[AT_BOOT_ID..AT_BOOT_ID + 2].copy_from_slice(&stored);
        let words: Vec<AtomicU64> = header.iter().chain(&[7, 8]).map(|word| AtomicU64::new(*word)).collect();
        reset_after_boot(&words, &header, boot_id);
        let found: Vec<u64> = words.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert_eq!(found[HEADER..], expected);
        assert_eq!(found[AT_BOOT_ID..AT_BOOT_ID + 2], boot_id.unwrap_or(stored));
    }
    let directory = Directory::new("boot");
    set(&MappedFile::open(&directory.file(), 8).unwrap(), WordKind::Rate, b"a", 1);
    assert_eq!(get(&MappedFile::open(&directory.file(), 8).unwrap(), WordKind::Rate, b"a"), 1);
    patch(&directory, AT_BOOT_ID, 1);
    let reset = MappedFile::open(&directory.file(), 8).unwrap();
    assert_eq!(get(&reset, WordKind::Rate, b"a"), if boot_id().is_some() { 0 } else { 1 });
}

#[test]
fn opening_a_locked_file_waits_until_the_lock_is_released() {
    let directory = Directory::new("locked");
    let file = directory.write(&[]);
    assert!(mapping::try_lock(&file).unwrap());
    thread::scope(|scope| {
        let opening = scope.spawn(|| MappedFile::open(&directory.file(), 8).is_ok());
        thread::sleep(Duration::from_millis(20));
        assert!(!opening.is_finished());
        mapping::unlock(&file);
        assert!(opening.join().unwrap());
    });
}
