/* The target `crl` with signatures that are always valid, so that altered CRLs pass the signature check. */
/* with: signatures */
#define ANY_SIGNATURE
#include "crl.c"
