/* A fleet with a store in a file, without and with processes that are killed. */
#define _GNU_SOURCE
#include "fleet.h"

static char directory[] = "/tmp/netlib-fleet-XXXXXX";
static char path[64];

static netlib_status open_file(netlib_store **store, netlib_error **err) {
    return netlib_store_file(path, 1024, store, err);
}

int main(void) {
    alarm(60);
    if (mkdtemp(directory) == NULL) abort();
    snprintf(path, sizeof path, "%s/words", directory);
    struct fleet fleet = {4, 4, 2000.0, 1000.0, 2.0, 0, CLOCK_MONOTONIC, open_file, NULL};
    run_fleet(&fleet, "file");
    unlink(path);
    fleet.kills = 20;
    run_fleet(&fleet, "file, with 20 processes killed");
    unlink(path), rmdir(directory);
    return report("fleet file");
}
