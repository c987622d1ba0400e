/* The target engine with a peer that has the keys and signs anything, so that the cipher neither refuses nor hides an
 * alteration. */
/* with: ciphers signatures */
#define PEER_HAS_KEYS
#include "engine.c"
