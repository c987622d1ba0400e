/* output.h - where fetch puts the body: complete, or not there. With a progress bar. */
#ifndef EXAMPLES_FETCH_OUTPUT_H
#define EXAMPLES_FETCH_OUTPUT_H

#include <netlib.h>
#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *path; /* NULL: standard output */
    char *part;       /* where a file grows until it is complete; NULL: written directly */
    FILE *file;       /* NULL: not open */
    int64_t written;
    int64_t expected;      /* -1: not announced */
    bool may_show;         /* there is a terminal for a progress bar */
    bool shown;            /* the bar is on it */
    double next_draw_time; /* in seconds of netlib_current_time */
};

/* `path` is borrowed; NULL: standard output. */
void output_init(struct output *output, const char *path);

/* Opens the output for one body of `expected` bytes, -1: unknown. It begins anew, so what is broken is overwritten. */
netlib_status output_begin(struct output *output, int64_t expected, netlib_error **err);

/* Takes a piece of the body: an http_sink, whose `ctx` is the output. */
netlib_status output_write(void *ctx, const char *data, size_t len, netlib_error **err);

/* The body is complete: a file gets its name. */
netlib_status output_complete(struct output *output, netlib_error **err);

/* The body is broken: leaves nothing that could be taken for the whole. */
void output_discard(struct output *output);

/* Whether a broken body can still be replaced by a whole one. */
bool output_can_restart(const struct output *output);

/* Makes room for a line of text where the progress bar was. */
void output_erase_progress(struct output *output);

void output_free(struct output *output);

#endif
