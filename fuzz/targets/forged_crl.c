/* The target crl with an authority that signs anything, so that altered CRLs are read to the end. */
/* with: signatures */
#define ANY_SIGNATURE
#include "crl.c"
