/* The target `engine` with records that are not encrypted and signatures that are always valid, so that altered records
 * reach the code behind decryption. */
/* with: ciphers signatures */
#define PEER_HAS_KEYS
#include "engine.c"
