/*
 * Compares netlib's answers with the answers of two versions of urllib3, which are recorded in tests/vectors. The file
 * tests/vectors/common.py describes the syntax of the recorded cases.
 *
 * Each program that includes this file has a function that calls netlib for one recorded case, and writes netlib's
 * answer in the format of the files in tests/vectors. The main function of each program calls vectors_main, which
 * prints counts for each version of urllib3, and the number of cases in each class of docs/reference/differences.md.
 * netlib's answer may differ from urllib3's only if tests/vectors/differences has netlib's exact answer and the class
 * of the difference, or if netlib's answer equals the answer of 2.8.0 and differs only from the answer of 1.26.20. If
 * the first argument is a number N, only every Nth case is compared. The second argument names a folder that is read
 * instead of tests/vectors.
 */
#ifndef NETLIB_TEST_VECTORS_H
#define NETLIB_TEST_VECTORS_H

#define NETLIB_DEPRECATED_NOTE(note)
#include "harness.h"
#include <stdarg.h>

/* A text buffer that grows as needed. */
typedef struct {
    char *text;
    size_t len, size;
} vectors_out;

static inline void put_bytes(vectors_out *out, const char *bytes, size_t len) {
    if (out->len + len + 1 > out->size) {
        out->size = 2 * (out->len + len + 1);
        out->text = realloc(out->text, out->size);
        if (out->text == NULL) abort();
    }
    memcpy(out->text + out->len, bytes, len);
    out->len += len;
    out->text[out->len] = '\0';
}

/* Appends a word. Puts a space before the word unless it is the first word of the line. */
static inline void put(vectors_out *out, const char *word) {
    if (out->len > 0 && out->text[out->len - 1] != '\n') put_bytes(out, " ", 1);
    put_bytes(out, word, strlen(word));
}

static inline void put_int(vectors_out *out, long long number) {
    char text[32];
    snprintf(text, sizeof text, "%lld", number);
    put(out, text);
}

/* Writes a number with 15 significant digits, or with 17 if 15 digits do not parse to the same number. */
static inline void put_double(vectors_out *out, double number) {
    char text[40];
    snprintf(text, sizeof text, "%.15g", number);
    double back = strtod(text, NULL);
    if (back < number || back > number) snprintf(text, sizeof text, "%.17g", number);
    put(out, strcmp(text, "-0") == 0 ? "0" : text);
}

static inline void put_text(vectors_out *out, const char *text, size_t len) {
    if (text == NULL) {
        put(out, "-");
        return;
    }
    put(out, len == 0 ? "\\e" : "");
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];
        char escaped[8];
        if (byte == ' ') {
            put_bytes(out, "\\s", 2);
        } else if (byte < ' ' || byte > '~' || byte == '\\' || (len == 1 && byte == '-')) {
            put_bytes(out, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\x%02x", byte));
        } else {
            put_bytes(out, &text[i], 1);
        }
    }
}

static inline void put_string(vectors_out *out, const char *text) {
    put_text(out, text, text == NULL ? 0 : strlen(text));
}

static inline void end_line(vectors_out *out) { put_bytes(out, "\n", 1); }

/* Returns the next line, or NULL at the end. */
static inline char *next_line(char **rest) {
    char *line = *rest;
    if (*line == '\0') return NULL;
    char *end = strchr(line, '\n');
    *rest = end == NULL ? line + strlen(line) : end + 1;
    if (end != NULL) *end = '\0';
    return line;
}

/* Returns the next word of a line without decoding it, or "" at the end. */
static inline char *next_word(char **rest) {
    char *word = *rest;
    size_t len = strcspn(word, " ");
    *rest = word + len + (word[len] == ' ');
    word[len] = '\0';
    return word;
}

/* Decodes the next word of a line in place and returns the text, or NULL for None. */
static inline char *next_text(char **rest, size_t *len) {
    char *word = next_word(rest), *to = word;
    if (len != NULL) *len = 0;
    if (strcmp(word, "-") == 0) return NULL;
    for (const char *from = word; *from != '\0'; from++) {
        if (*from != '\\') {
            *to++ = *from;
        } else if (*++from == 's') {
            *to++ = ' ';
        } else if (*from == 'x') {
            char hex[3] = {from[1], from[2], '\0'};
            *to++ = (char)strtoul(hex, NULL, 16);
            from += 2;
        }
    }
    *to = '\0';
    if (len != NULL) *len = (size_t)(to - word);
    return word;
}

/* A case: the input, the expected answer, and the classes of the case in a file of differences. The mark at the
 * beginning of each line ('>', '=' or '<') has been removed. */
typedef struct {
    char *input, *classes, *answer;
} vectors_case;

typedef struct {
    char *text;
    vectors_case *cases;
    size_t count;
} vectors_file;

static inline vectors_file read_vectors(const char *vectors, const char *folder, const char *area) {
    char path[512];
    vectors_file file = {0};
    snprintf(path, sizeof path, "%s/%s/%s.txt", vectors, folder, area);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(EXIT_FAILURE);
    }
    size_t size = (size_t)ftell(stream);
    rewind(stream);
    file.text = malloc(size + 2);
    /* A case has at least two lines of at least three bytes, which bounds the number of cases. */
    file.cases = calloc(size / 6 + 1, sizeof *file.cases);
    if (file.text == NULL || file.cases == NULL || fread(file.text, 1, size, stream) != size) abort();
    file.text[size] = '\0';
    fclose(stream);
    /* Removes the mark at the beginning of each line, and closes the gaps. The lines of an input, of the classes or of
     * an answer stay separated by line ends. A NUL follows the last of these lines. */
    char *to = file.text, before = '#';
    vectors_case *now = NULL;
    for (char *rest = file.text, *line; (line = next_line(&rest)) != NULL;) {
        char mark = line[0];
        if (mark == '#') continue;
        size_t len = strlen(line) - 2;
        memmove(to, line + 2, len);
        if (mark == '>' && before != '>') {
            now = &file.cases[file.count++];
            now->input = to;
        } else if (mark == '=') {
            now->classes = to;
        } else if (mark == '<' && before != '<') {
            now->answer = to;
        }
        to += len;
        *to++ = '\n';
        before = mark;
        if (*rest == '\0' || *rest != mark) to[-1] = '\0';
    }
    return file;
}

static inline void free_vectors(vectors_file *file) {
    free(file->text);
    free(file->cases);
}

/* Returns true if netlib's answer equals the recorded answer, ignoring values that the version of urllib3 does not
 * have. */
static inline bool same_answer(const char *theirs, const char *ours) {
    if (strcmp(theirs, "\\?") == 0) return true;
    while (*theirs != '\0') {
        if (strncmp(theirs, "\\?", 2) == 0) {
            theirs += 2;
            ours += strcspn(ours, " \n");
        } else if (*theirs++ != *ours++) {
            return false;
        }
    }
    return *ours == '\0';
}

enum { VECTORS_CLASSES = 32 };

typedef struct {
    const char *name;
    unsigned long equal, differ, unsupported, unexplained, hits[VECTORS_CLASSES];
} vectors_version;

/* The names of the classes that have cases in this program. */
static char class_names[VECTORS_CLASSES][48];

static inline void count_class(vectors_version *version, const char *name, size_t len) {
    size_t i = 0;
    while (i < VECTORS_CLASSES && class_names[i][0] != '\0' &&
           !(strlen(class_names[i]) == len && strncmp(class_names[i], name, len) == 0)) {
        i++;
    }
    if (i == VECTORS_CLASSES || len >= sizeof class_names[0]) abort();
    memcpy(class_names[i], name, len);
    version->hits[i]++;
}

static inline void count_classes(vectors_version *version, const char *names) {
    while (*names != '\0') {
        size_t len = strcspn(names, " ");
        count_class(version, names, len);
        names += len + (names[len] == ' ');
    }
}

static inline void compare_version(vectors_version *version, const vectors_case *theirs, const vectors_case *base,
                                   const vectors_case *difference, const char *ours) {
    bool has_own_answer = theirs != base, is_difference = difference != NULL && same_answer(difference->answer, ours);
    if (strcmp(theirs->answer, "\\?") == 0) {
        version->unsupported++;
        return;
    }
    if (same_answer(theirs->answer, ours)) {
        version->equal++;
    } else if (is_difference && (!has_own_answer || strcmp(base->answer, "\\?") == 0)) {
        version->differ++;
        count_classes(version, difference->classes);
    } else if (has_own_answer && (is_difference || same_answer(base->answer, ours))) {
        version->differ++;
        count_classes(version, "older-release-line");
    } else {
        enum { PRINTED_MAX = 20 };
        checks_failed++;
        if (++version->unexplained > PRINTED_MAX) return;
        fprintf(stderr, "%s: netlib's answer is neither urllib3's nor a recorded difference\n", version->name);
        fprintf(stderr, "input: %s\nurllib3: %s\nnetlib: %s\n", theirs->input, theirs->answer, ours);
        if (difference != NULL) fprintf(stderr, "expected, %s: %s\n", difference->classes, difference->answer);
        return;
    }
    checks_passed++;
}

/* Writes a number with commas between groups of three digits. */
static inline const char *thousands(unsigned long number, char *text) {
    int len = sprintf(text, "%lu", number);
    for (int at = len - 3; at > 0; at -= 3) {
        memmove(text + at + 1, text + at, strlen(text + at) + 1);
        text[at] = ',';
    }
    return text;
}

static inline void print_version(const char *area, const vectors_version *version) {
    char equal[32], differ[32], unsupported[32];
    unsigned classes = 0;
    for (size_t i = 0; i < VECTORS_CLASSES; i++) classes += version->hits[i] > 0;
    printf("%s vectors, urllib3 %s: %s equal, %s differ in %u classes, %lu unexplained", area, version->name,
           thousands(version->equal, equal), thousands(version->differ, differ), classes, version->unexplained);
    if (version->unsupported > 0)
        printf(" (%s unsupported by this version)", thousands(version->unsupported, unsupported));
    printf("\n");
}

/* Compares all cases in the files named `area`.txt. `answer` computes netlib's answer to an input, and may modify
 * `input`. */
static inline int vectors_main(const char *area, void (*answer)(char *input, vectors_out *out), int argc, char **argv) {
    size_t stride = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    const char *vectors = argc > 2 ? argv[2] : "tests/vectors";
    vectors_file newest = read_vectors(vectors, "urllib3-2.8.0", area),
                 oldest = read_vectors(vectors, "urllib3-1.26.20", area);
    vectors_file differences = read_vectors(vectors, "differences", area);
    vectors_version versions[] = {{.name = "2.8.0"}, {.name = "1.26.20"}};
    vectors_out ours = {0}, input = {0};
    size_t old = 0, differs = 0;
    for (size_t i = 0; i < newest.count; i++) {
        const vectors_case *base = &newest.cases[i], *older = base, *difference = NULL;
        if (old < oldest.count && strcmp(oldest.cases[old].input, base->input) == 0) older = &oldest.cases[old++];
        if (differs < differences.count && strcmp(differences.cases[differs].input, base->input) == 0) {
            difference = &differences.cases[differs++];
        }
        if (stride == 0 || i % stride != 0) continue;
        ours.len = input.len = 0;
        put_bytes(&input, base->input, strlen(base->input));
        put_bytes(&ours, "", 0);
        /* Each comparison counts as one check. A CHECK inside `answer` counts only if it fails. */
        unsigned long passed = checks_passed;
        answer(input.text, &ours);
        checks_passed = passed;
        while (ours.len > 0 && ours.text[ours.len - 1] == '\n') ours.text[--ours.len] = '\0';
        compare_version(&versions[0], base, base, difference, ours.text);
        compare_version(&versions[1], older, base, difference, ours.text);
        if (difference == NULL || !same_answer(base->answer, ours.text)) continue;
        check_report(false, "tests/vectors/differences", 0,
                     "netlib's answer equals urllib3's, although a difference is recorded");
        fprintf(stderr, "%s: %s\nnetlib: %s\n", difference->classes, base->input, ours.text);
    }
    /* Every case of urllib3 1.26.20 and every recorded difference must belong to a case of urllib3 2.8.0. A case of
     * 1.26.20 that belongs to no case of 2.8.0 would never be compared. */
    CHECK_INT((long long)oldest.count, (long long)old);
    CHECK_INT((long long)differences.count, (long long)differs);
    for (size_t i = 0; i < 2; i++) print_version(area, &versions[i]);
    for (size_t i = 0; i < VECTORS_CLASSES && class_names[i][0] != '\0'; i++) {
        printf("class %s: %lu cases\n", class_names[i], versions[0].hits[i] + versions[1].hits[i]);
    }
    free_vectors(&newest);
    free_vectors(&oldest);
    free_vectors(&differences);
    free(ours.text);
    free(input.text);
    return report(area);
}

#endif
