/* Tests netlib_split_first. For each test case, netlib's answer has the texts before and after the delimiter instead of
 * the offsets. */
#include "vectors.h"

enum { DELIMITERS = 8 };

static void answer(char *input, vectors_out *out) {
    size_t len = 0, count = 0, before_end = 0, after_start = 0;
    int64_t found = 0;
    netlib_error *err = NULL;
    const char *delimiters[DELIMITERS];
    const char *text = next_text(&input, &len);
    while (*input != '\0' && count < DELIMITERS) delimiters[count++] = next_text(&input, NULL);
    CHECK_OK(netlib_split_first(text, len, delimiters, count, &before_end, &after_start, &found, &err));
    put_text(out, text, before_end);
    put_text(out, text + after_start, len - after_start);
    put_string(out, found < 0 ? NULL : delimiters[found]);
}

int main(int argc, char **argv) { return vectors_main("split_first", answer, argc, argv); }
