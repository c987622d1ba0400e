/* The target chain with an authority that signs anything, so that altered certificates are verified to the end. */
/* with: signatures */
#define ANY_SIGNATURE
#include "chain.c"
