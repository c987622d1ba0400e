/* Packs a folder of fuzz inputs into one file, or unpacks such a file: libFuzzer needs one file per input, and the
 * repository stores one file per target.
 *
 * usage: pack FILE DIRECTORY         FILE gets the inputs of DIRECTORY, in the order of their names
 *        pack -d FILE DIRECTORY      DIRECTORY gets one file for each input */
#define _GNU_SOURCE
#include "seeds.h"

#include <dirent.h>
#include <string.h>

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return file;
}

static void unpack(const char *path, const char *directory) {
    FILE *pack = open_file(path, "rb");
    char *data;
    size_t len;
    for (unsigned number = 1; next_seed(pack, &data, &len); number++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%04u", directory, number);
        FILE *file = open_file(name, "wb");
        fwrite(data, 1, len, file);
        fclose(file);
        free(data);
    }
    fclose(pack);
}

static void pack_folder(FILE *pack, const char *directory) {
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", directory, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            FILE *file = open_file(name, "rb");
            static char data[1 << 24];
            size_t len = fread(data, 1, sizeof data, file);
            fclose(file);
            fprintf(pack, "%zu\n", len);
            fwrite(data, 1, len, pack);
            fputc('\n', pack);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "-d") == 0) {
        unpack(argv[2], argv[3]);
        return EXIT_SUCCESS;
    }
    if (argc != 3) return EXIT_FAILURE;
    FILE *pack = open_file(argv[1], "wb");
    pack_folder(pack, argv[2]);
    return fclose(pack) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
