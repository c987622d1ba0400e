/* output.h - writes the response's body to standard output or to a file, with a progress bar. A file appears under its
 * name only when it is complete. */
#ifndef EXAMPLES_FETCH_OUTPUT_H
#define EXAMPLES_FETCH_OUTPUT_H

#include <netlib.h>
#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *path; /* NULL: standard output */
    char *part;       /* the name of an incomplete file; NULL: written directly */
    FILE *file;       /* NULL: not open */
    int64_t written;
    int64_t expected;      /* length of the body; -1: not announced */
    bool may_show;         /* true if a terminal can show a progress bar */
    bool shown;            /* true if the bar is visible */
    double next_draw_time; /* in seconds of netlib_current_time */
};

/* Initialises the output for the file `path`, which is borrowed; NULL means standard output. */
void output_init(struct output *output, const char *path);

/* Opens the output for a body of `expected` bytes; -1 means an unknown length. Overwrites the incomplete body of an
 * earlier attempt. */
netlib_status output_begin(struct output *output, int64_t expected, netlib_error **err);

/* Writes a piece of the body. */
netlib_status output_write(struct output *output, const void *data, size_t len, netlib_error **err);

/* Ends a complete body: renames the file to its final name. */
netlib_status output_complete(struct output *output, netlib_error **err);

/* Discards an incomplete body, so that it cannot be taken for a complete one. */
void output_discard(struct output *output);

/* Returns true if another attempt can replace an incomplete body. */
bool output_can_restart(const struct output *output);

/* Erases the progress bar, so that a line of text can be printed. */
void output_erase_progress(struct output *output);

void output_free(struct output *output);

#endif
