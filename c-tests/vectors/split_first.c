/* netlib_split_first: its offsets, written as the texts before and after the delimiter. */
#include "vectors.h"

enum { DELIMITERS = 8 };

static void answer(char *asked, vectors_out *out) {
    size_t len = 0, count = 0, before_end = 0, after_start = 0;
    int64_t found = 0;
    netlib_error *err = NULL;
    const char *delimiters[DELIMITERS];
    const char *text = next_text(&asked, &len);
    while (*asked != '\0' && count < DELIMITERS) delimiters[count++] = next_text(&asked, NULL);
    CHECK_OK(netlib_split_first(text, len, delimiters, count, &before_end, &after_start, &found, &err));
    put_text(out, text, before_end);
    put_text(out, text + after_start, len - after_start);
    put_string(out, found < 0 ? NULL : delimiters[found]);
}

int main(int argc, char **argv) { return vectors_main("split_first", answer, argc, argv); }
