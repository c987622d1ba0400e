/* Gives each file of the folders named to a target, once: the corpus on a machine without a fuzzer. */
#include "fuzz.h"

#include <dirent.h>

#pragma weak LLVMFuzzerInitialize

void fuzz_reset_random(void) {}

int main(int argc, char **argv) {
    unsigned long files = 0;
    if (LLVMFuzzerInitialize != NULL) LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        MUST(directory != NULL);
        for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
            char path[1000];
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            struct input file = read_file(path);
            fprintf(stderr, "%s\n", path);
            uint8_t *data = exact(file.data, file.len);
            LLVMFuzzerTestOneInput(data, file.len);
            free(data);
            free((void *)(uintptr_t)file.data);
            files++;
        }
        closedir(directory);
    }
    printf("%s: %lu passed, 0 failed\n", argv[0], files);
    return EXIT_SUCCESS;
}
