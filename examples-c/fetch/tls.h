/* tls.h - creates TLS contexts from the command line: trusted certificates, pins, and the client certificate. */
#ifndef EXAMPLES_FETCH_TLS_H
#define EXAMPLES_FETCH_TLS_H

#include "options.h"

#include <netlib.h>

/* The kinds of peers. Each kind has its own TLS context, because trusted certificates and the client certificate
 * differ. */
enum tls_peer {
    TLS_ORIGIN,   /* the origin that the command line names */
    TLS_REDIRECT, /* any other origin, after a redirect: it does not get the client certificate */
    TLS_PROXY,    /* the proxy: it does not get the client certificate, and has trust options of its own */
    TLS_PEERS
};

netlib_status tls_make_context(const struct options *options, enum tls_peer peer, netlib_tls_context **context,
                               netlib_error **err);

/* Checks that the server's certificate has the fingerprint of --fingerprint. Succeeds if --fingerprint was not
 * given. */
netlib_status tls_check_fingerprint(const struct options *options, const netlib_stream *stream, netlib_error **err);

#endif
