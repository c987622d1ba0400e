/* empty.c - a client that uses no library, whose memory is that of every C program. */
#include "client.h"

int main(int argc, char **argv) {
    struct settings settings = begin(argc, argv);
    return end(&settings, "C");
}
