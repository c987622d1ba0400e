/* Implements output.h. */
#define _POSIX_C_SOURCE 200809L

#include "output.h"

#include "failure.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void output_init(struct output *output, const char *path) {
    *output = (struct output){.path = path};
    /* If the body is written to a terminal, there is no progress bar, because the bar would be mixed with the body. */
    output->may_show = isatty(STDERR_FILENO) && (path != NULL || !isatty(STDOUT_FILENO));
}

void output_free(struct output *output) {
    free(output->part);
    output->part = NULL;
}

static netlib_status output_failed(const char *what, const struct output *output, netlib_error **err) {
    const char *name = output->path != NULL ? output->path : "standard output";
    return fail(NETLIB_IO, err, "cannot %s %s: %s", what, name, strerror(errno));
}

/* Returns true for devices and pipes, which are written directly, because a renamed file cannot replace them. */
static bool is_special(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

netlib_status output_begin(struct output *output, int64_t expected, netlib_error **err) {
    output->written = 0;
    output->expected = expected;
    if (output->path == NULL) {
        output->file = stdout;
        return NETLIB_OK;
    }
    if (output->part == NULL && !is_special(output->path)) {
        output->part = malloc(strlen(output->path) + sizeof ".part");
        if (output->part == NULL) return fail(NETLIB_OUT_OF_MEMORY, err, "no memory for a file name");
        strcat(strcpy(output->part, output->path), ".part");
    }
    output->file = fopen(output->part != NULL ? output->part : output->path, "wb");
    return output->file != NULL ? NETLIB_OK : output_failed("open", output, err);
}

static double mebibytes(int64_t bytes) { return (double)bytes / (1024.0 * 1024.0); }

/* Draws the progress bar, at most ten times a second and only after the first MiB. */
static void draw_progress(struct output *output) {
    static const char hashes[] = "########################################";
    enum { WIDTH = sizeof hashes - 1 };
    double now = netlib_current_time();
    if (!output->may_show || mebibytes(output->written) < 1 || now < output->next_draw_time) return;
    output->next_draw_time = now + 0.1;
    output->shown = true;
    fputc('\r', stderr);
    if (output->expected > 0) {
        int done = (int)(output->written * WIDTH / output->expected);
        fprintf(stderr, "[%.*s%*s] ", done, hashes, WIDTH - done, "");
    }
    fprintf(stderr, "%.1f MiB", mebibytes(output->written));
    if (output->expected > 0) fprintf(stderr, " of %.1f", mebibytes(output->expected));
}

void output_erase_progress(struct output *output) {
    if (output->shown) fprintf(stderr, "\r%75s\r", "");
    output->shown = false;
}

netlib_status output_write(struct output *output, const void *data, size_t len, netlib_error **err) {
    if (fwrite(data, 1, len, output->file) != len) return output_failed("write", output, err);
    output->written += (int64_t)len;
    draw_progress(output);
    return NETLIB_OK;
}

netlib_status output_complete(struct output *output, netlib_error **err) {
    FILE *file = output->file;
    output->file = NULL;
    netlib_status status = NETLIB_OK;
    if ((file == stdout ? fflush(file) : fclose(file)) != 0) {
        status = output_failed("write", output, err);
    } else if (output->part != NULL && rename(output->part, output->path) != 0) {
        status = output_failed("make", output, err);
    }
    if (status != NETLIB_OK && output->part != NULL) remove(output->part);
    return status;
}

bool output_can_restart(const struct output *output) { return output->part != NULL || output->written == 0; }

void output_discard(struct output *output) {
    if (output->file == NULL) return;
    if (output->file == stdout) {
        fflush(stdout);
    } else {
        fclose(output->file);
    }
    if (output->part != NULL) remove(output->part);
    output->file = NULL;
}
