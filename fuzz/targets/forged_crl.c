/* Revocation lists of an authority that signs anything: what is altered is read to its end. */
/* with: signatures */
#define ANY_SIGNATURE
#include "crl.c"
