/* tls.h - the command line's word on TLS: whom fetch trusts, and who it says that it is. */
#ifndef EXAMPLES_FETCH_TLS_H
#define EXAMPLES_FETCH_TLS_H

#include "options.h"

#include <netlib.h>

/* Who is at the other end. Each gets a context of its own, because each is trusted, and told, something else. */
enum tls_peer {
    TLS_ORIGIN,   /* the origin that the command line names */
    TLS_REDIRECT, /* any other that it redirected to: it does not get to see our certificate */
    TLS_PROXY,    /* the proxy: neither does it, and it has trust of its own */
    TLS_PEERS
};

netlib_status tls_make_context(const struct options *options, enum tls_peer peer, netlib_tls_context **context,
                               netlib_error **err);

/* Whether the certificate that a server has shown is the one that --fingerprint names; fine without one. */
netlib_status tls_check_fingerprint(const struct options *options, const netlib_tls_stream *stream, netlib_error **err);

#endif
