/* Chains of an authority that signs anything: what is altered is verified to its end. */
/* with: signatures */
#define ANY_SIGNATURE
#include "chain.c"
