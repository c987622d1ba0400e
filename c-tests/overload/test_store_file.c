/* Tests which files netlib_store_file creates, completes, resets and refuses. */
#define _GNU_SOURCE
#include "forks.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

/* The layout of a file: words of 64 bits. */
enum { AT_MAGIC = 0, AT_FORMAT = 1, AT_SLOTS = 2, AT_SEED = 3, AT_BOOT_ID = 5, HEADER = 8, SLOTS = 8, WORDS = 24 };

static char directory[] = "/tmp/netlib-store-XXXXXX";
static char path[64], target[64];

static void make_paths(void) {
    if (mkdtemp(directory) == NULL) abort();
    snprintf(path, sizeof path, "%s/words", directory);
    snprintf(target, sizeof target, "%s/target", directory);
}

/* Opens the file and closes it again. If that fails, stores the message, with "PATH" instead of the path. */
static netlib_status open_store(size_t slots, char message[256]) {
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    netlib_status status = netlib_store_file(path, slots, &store, &err);
    CHECK((store != NULL) == (status == NETLIB_OK));
    CHECK_INT(status, netlib_error_status(err));
    message[0] = '\0';
    const char *text = netlib_error_message(err, NULL), *place = text != NULL ? strstr(text, path) : NULL;
    if (place != NULL) snprintf(message, 256, "%.*sPATH%s", (int)(place - text), text, place + strlen(path));
    else if (text != NULL) snprintf(message, 256, "%s", text);
    netlib_error_free(err);
    netlib_store_free(store);
    return status;
}

#define CHECK_OPENS() \
    do { \
        char text[256]; \
        CHECK_INT(NETLIB_OK, open_store(SLOTS, text)); \
        CHECK_STR("", text); \
    } while (0)
#define CHECK_REFUSED(problem) \
    do { \
        char text[256]; \
        CHECK_INT(NETLIB_STORE_UNAVAILABLE, open_store(SLOTS, text)); \
        CHECK_STR("the store file PATH is refused: " problem, text); \
    } while (0)

static void read_words(uint64_t words[WORDS]) {
    int fd = open(path, O_RDONLY);
    CHECK_INT(WORDS * 8, read(fd, words, WORDS * 8));
    close(fd);
}

static void patch(int at, uint64_t word) {
    int fd = open(path, O_WRONLY);
    CHECK_INT(8, pwrite(fd, &word, 8, at * 8));
    close(fd);
}

static void make_new(void) {
    unlink(path);
    CHECK_OPENS();
}

static void a_new_file_has_the_mode_0600_and_a_header(void) {
    mode_t before = umask(0);
    make_new();
    umask(before);
    struct stat stat_of_file;
    CHECK_INT(0, stat(path, &stat_of_file));
    CHECK_INT(0600, stat_of_file.st_mode & 07777);
    CHECK_INT(WORDS * 8, stat_of_file.st_size);
    CHECK(stat_of_file.st_blocks * 512 >= WORDS * 8);
    uint64_t words[WORDS], again[WORDS];
    read_words(words);
    CHECK_INT(1, (long long)words[AT_FORMAT]);
    CHECK_INT(SLOTS, (long long)words[AT_SLOTS]);
    CHECK(words[AT_SEED] != 0 && words[AT_SEED + 1] != 0);
    for (int i = HEADER; i < WORDS; i++) CHECK_INT(0, (long long)words[i]);
    make_new();
    read_words(again);
    CHECK(again[AT_SEED] != words[AT_SEED]);
    CHECK(again[AT_BOOT_ID] == words[AT_BOOT_ID]);
}

static void an_existing_file_keeps_its_words(void) {
    make_new();
    patch(HEADER + 3, 77);
    uint64_t words[WORDS], again[WORDS];
    read_words(words);
    CHECK_OPENS();
    read_words(again);
    CHECK(memcmp(words, again, sizeof words) == 0);
}

static void another_boot_id_resets_all_words(void) {
    for (int at = AT_BOOT_ID; at < AT_BOOT_ID + 2; at++) {
        make_new();
        uint64_t words[WORDS], again[WORDS];
        read_words(words);
        if (words[AT_BOOT_ID] == 0) return; /* the system has no boot id */
        for (int i = HEADER; i < WORDS; i++) patch(i, 1000 + (uint64_t)i);
        patch(at, words[at] + 1);
        CHECK_OPENS();
        read_words(again);
        CHECK(memcmp(words, again, sizeof words) == 0);
    }
}

static void a_file_with_a_wrong_header_is_refused_and_unchanged(void) {
    static const struct {
        int at;
        uint64_t word;
        const char *problem;
    } rows[] = {
        {AT_MAGIC, 0x0102030405060708, "it is not a store file of this host"},
        {AT_MAGIC, 0, "it is not a store file of this host"},
        {AT_FORMAT, 2, "its format is 2; this version of netlib supports only 1"},
        {AT_FORMAT, UINT64_MAX, "its format is 18446744073709551615; this version of netlib supports only 1"},
        {AT_SLOTS, 7, "it has 7 slots, not 8"},
        {AT_SLOTS, UINT64_MAX, "it has 18446744073709551615 slots, not 8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_new();
        patch(rows[i].at, rows[i].word);
        uint64_t words[WORDS], again[WORDS];
        char message[256], expected[256];
        read_words(words);
        snprintf(expected, sizeof expected, "the store file PATH is refused: %s", rows[i].problem);
        CHECK_INT(NETLIB_STORE_UNAVAILABLE, open_store(SLOTS, message));
        CHECK_STR(expected, message);
        read_words(again);
        CHECK(memcmp(words, again, sizeof words) == 0);
    }
}

static void a_file_of_a_wrong_size_is_refused(void) {
    make_new();
    CHECK_INT(0, truncate(path, WORDS * 8 + 1));
    CHECK_REFUSED("it has 193 bytes, but 8 slots need 192");
    CHECK_INT(0, truncate(path, WORDS * 8 - 8));
    CHECK_REFUSED("it has 184 bytes, but 8 slots need 192");
    CHECK_INT(0, truncate(path, 20));
    CHECK_REFUSED("it has 20 bytes, but 8 slots need 192");
    CHECK_INT(0, truncate(path, 3));
    CHECK_REFUSED("it is not a store file of this host");
    CHECK_INT(0, truncate(path, 0));
    CHECK_OPENS();
    char message[256];
    CHECK_INT(NETLIB_STORE_UNAVAILABLE, open_store(SLOTS + 1, message));
    CHECK_STR("the store file PATH is refused: it has 8 slots, not 9", message);
}

static void a_file_that_others_could_change_is_refused(void) {
    struct stat unchanged;
    make_new();
    CHECK_INT(0, chmod(path, 0620));
    CHECK_REFUSED("its mode 0620 lets its group or others open it");
    CHECK_INT(0, chmod(path, 0602));
    CHECK_REFUSED("its mode 0602 lets its group or others open it");
    CHECK_INT(0, chmod(path, 0644));
    CHECK_REFUSED("its mode 0644 lets its group or others open it");
    CHECK_INT(0, chmod(path, 0600));
    CHECK_OPENS();
    CHECK_INT(0, link(path, target));
    CHECK_REFUSED("it has 2 hard links");
    CHECK_INT(0, rename(path, target) + unlink(path));
    CHECK_INT(0, truncate(target, 0));
    CHECK_INT(0, link(target, path));
    CHECK_REFUSED("it has 2 hard links");
    CHECK_INT(0, stat(target, &unchanged));
    CHECK_INT(0, unchanged.st_size);
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, symlink(target, path));
    CHECK_REFUSED("it is a symbolic link");
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, symlink("/nonexistent/netlib", path));
    CHECK_REFUSED("it is a symbolic link");
    CHECK_INT(0, unlink(path));
    CHECK_INT(0, mkfifo(path, 0600));
    CHECK_REFUSED("it is not a regular file");
    CHECK_INT(0, unlink(path));
    if (geteuid() == 0) {
        make_new();
        CHECK_INT(0, chown(path, 4711, 0));
        CHECK_REFUSED("it belongs to the user 4711, not to the effective user 0");
    }
}

static void bad_arguments_and_failed_system_calls_are_reported(void) {
    char message[256];
    unlink(path);
    CHECK_INT(NETLIB_INVALID_ARGUMENT, open_store(0, message));
    CHECK_STR("slots must be 1 to 1048576; it is 0", message);
    CHECK_INT(NETLIB_INVALID_ARGUMENT, open_store(1048577, message));
    CHECK_STR("slots must be 1 to 1048576; it is 1048577", message);
    CHECK_INT(NETLIB_INVALID_ARGUMENT, open_store(SIZE_MAX, message));
    CHECK_INT(-1, access(path, F_OK));
    netlib_error *err = NULL;
    netlib_store *store = NULL;
    CHECK_INT(NETLIB_IO, netlib_store_file("/nonexistent/words", 8, &store, &err));
    CHECK_INT(ENOENT, netlib_error_errno(err));
    CHECK_STR("cannot open the store file /nonexistent/words: No such file or directory",
              netlib_error_message(err, NULL));
    netlib_error_free(err);
    CHECK_INT(NETLIB_IO, netlib_store_file(directory, 8, &store, &err));
    CHECK_INT(EISDIR, netlib_error_errno(err));
    netlib_error_free(err);
    CHECK_INT(NETLIB_OK, open_store(1, message));
    unlink(path);
    CHECK_INT(NETLIB_OK, open_store(1048576, message));
    struct stat stat_of_file;
    CHECK_INT(0, stat(path, &stat_of_file));
    CHECK_INT(16 * 1048576 + 64, stat_of_file.st_size);
}

/* The processes begin to open the file when the parent closes the pipe. */
static void processes_that_create_a_file_at_once_use_the_same_file(void) {
    enum { PROCESSES = 6, ROUNDS = 5 };
    for (int round = 0; round < ROUNDS; round++) {
        int start[2], results[2];
        unlink(path);
        CHECK(pipe(start) == 0 && pipe(results) == 0);
        struct child children[PROCESSES];
        for (int i = 0; i < PROCESSES; i++) {
            children[i] = begin_child();
            if (children[i].process != 0) continue;
            close(start[1]);
            char byte, message[256];
            if (read(start[0], &byte, 1) != 0) abort();
            netlib_status status = open_store(SLOTS, message);
            uint64_t words[WORDS] = {0};
            read_words(words);
            if (status != NETLIB_OK || write(results[1], &words[AT_SEED], 8) != 8) abort();
            end_child();
        }
        close(start[0]), close(start[1]), close(results[1]);
        uint64_t seeds[PROCESSES] = {0};
        for (int i = 0; i < PROCESSES; i++) {
            CHECK_INT(8, read(results[0], &seeds[i], 8));
            CHECK(seeds[i] != 0 && seeds[i] == seeds[0]);
        }
        close(results[0]);
        for (int i = 0; i < PROCESSES; i++) join_child(&children[i]), drop_child(&children[i]);
    }
}

static void a_process_that_is_killed_while_it_holds_the_lock_blocks_no_other(void) {
    make_new();
    int locked[2];
    CHECK(pipe(locked) == 0);
    pid_t process = fork();
    if (process == 0) {
        int fd = open(path, O_RDWR);
        if (fd < 0 || flock(fd, LOCK_EX) != 0 || write(locked[1], "x", 1) != 1) abort();
        for (;;) pause();
    }
    char byte;
    CHECK_INT(1, read(locked[0], &byte, 1));
    CHECK_INT(0, kill(process, SIGKILL));
    CHECK_OPENS();
    CHECK(waitpid(process, NULL, 0) == process);
    close(locked[0]), close(locked[1]);
}

int main(void) {
    alarm(60);
    make_paths();
    a_new_file_has_the_mode_0600_and_a_header();
    an_existing_file_keeps_its_words();
    another_boot_id_resets_all_words();
    a_file_with_a_wrong_header_is_refused_and_unchanged();
    a_file_of_a_wrong_size_is_refused();
    a_file_that_others_could_change_is_refused();
    bad_arguments_and_failed_system_calls_are_reported();
    processes_that_create_a_file_at_once_use_the_same_file();
    a_process_that_is_killed_while_it_holds_the_lock_blocks_no_other();
    unlink(path), unlink(target), rmdir(directory);
    return report("store file");
}
