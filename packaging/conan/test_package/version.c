/* Fails if the header and the library have different versions. */
#include <netlib.h>

int main(void) { return netlib_version_number() != NETLIB_VERSION_NUMBER; }
