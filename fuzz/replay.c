/* A main function that runs a fuzz target, without a fuzzer, on every input in the pack files that are its
 * arguments. */
#include "fuzz.h"
#include "seeds.h"

#pragma weak LLVMFuzzerInitialize

void fuzz_reset_random(void) {}

int main(int argc, char **argv) {
    unsigned long inputs = 0;
    if (LLVMFuzzerInitialize != NULL) LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        FILE *pack = fopen(argv[i], "rb");
        MUST(pack != NULL);
        char *seed;
        size_t len;
        for (unsigned number = 1; next_seed(pack, &seed, &len); number++) {
            fprintf(stderr, "%s: input %u\n", argv[i], number);
            uint8_t *data = exact(seed, len);
            LLVMFuzzerTestOneInput(data, len);
            free(data);
            free(seed);
            inputs++;
        }
        fclose(pack);
    }
    printf("%s: %lu passed, 0 failed\n", argv[0], inputs);
    return EXIT_SUCCESS;
}
