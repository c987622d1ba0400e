/* The target `chain` with signatures that are always valid, so that altered certificates pass the signature check. */
/* with: signatures */
#define ANY_SIGNATURE
#include "chain.c"
