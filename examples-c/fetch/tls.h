/* tls.h - the TLS options of the command line: whom fetch trusts, and how it identifies itself. */
#ifndef EXAMPLES_FETCH_TLS_H
#define EXAMPLES_FETCH_TLS_H

#include "options.h"

#include <netlib.h>

/* The peer of a connection. Each has its own context, because trust and identity differ. */
enum tls_peer {
    TLS_ORIGIN,   /* the origin that the command line names */
    TLS_REDIRECT, /* any other origin, after a redirect: it does not get the client certificate */
    TLS_PROXY,    /* the proxy: it does not get the client certificate, and has trust options of its own */
    TLS_PEERS
};

netlib_status tls_make_context(const struct options *options, enum tls_peer peer, netlib_tls_context **context,
                               netlib_error **err);

/* Checks that the server's certificate has the fingerprint of --fingerprint. Succeeds without that option. */
netlib_status tls_check_fingerprint(const struct options *options, const netlib_tls_stream *stream, netlib_error **err);

#endif
