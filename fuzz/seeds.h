/* Reads pack files such as fuzz/seeds/NAME.pack, which contain all inputs of a target. Each input is stored as its
 * length in decimal, a newline, its bytes and a newline. */
#ifndef NETLIB_FUZZ_SEEDS_H
#define NETLIB_FUZZ_SEEDS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads the next input into memory that the caller frees; returns false at the end of the file. Exits if the file is
 * not a pack. */
static inline bool next_seed(FILE *pack, char **data, size_t *len) {
    int matched = fscanf(pack, "%zu", len);
    if (matched == EOF) return false;
    *data = matched == 1 && *len < 1 << 24 ? malloc(*len + 1) : NULL;
    if (*data == NULL || fgetc(pack) != '\n' || fread(*data, 1, *len, pack) != *len || fgetc(pack) != '\n') {
        fprintf(stderr, "not a pack of seeds\n");
        exit(EXIT_FAILURE);
    }
    (*data)[*len] = 0;
    return true;
}

#endif
