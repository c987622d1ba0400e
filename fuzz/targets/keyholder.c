/* The same with a peer that has the keys and signs anything: what is altered is neither refused by the cipher nor hidden by it. */
/* with: ciphers signatures */
#define PEER_HAS_KEYS
#include "engine.c"
