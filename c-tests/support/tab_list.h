/* Reads a list of test cases from a file. A line has one case, and tabs separate the fields of a line. */
#ifndef NETLIB_TEST_TAB_LIST_H
#define NETLIB_TEST_TAB_LIST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 7 };

/* Calls `run` with the fields of each line and the whole line. Missing fields are empty. Exits if the file cannot be
 * opened. */
static inline void for_each_line(const char *path, void (*run)(char *const *field, const char *line)) {
    FILE *list = path != NULL ? fopen(path, "r") : NULL;
    if (list == NULL) exit(EXIT_FAILURE);
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, list) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *copy = strdup(line), *rest = copy, *field[FIELDS];
        for (size_t i = 0; i < FIELDS; i++) {
            char *start = strsep(&rest, "\t");
            field[i] = start != NULL ? start : copy + strlen(copy);
        }
        run(field, line);
        free(copy);
    }
    free(line);
    fclose(list);
}

#endif
