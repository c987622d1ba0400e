/* Implements tls.h. */
#include "tls.h"

#include "failure.h"

/* Adds the trusted certificates of the command line, which replace those of the system. */
static void set_trust(netlib_tls_options *tls, const char *file, const char *directory) {
    if (file != NULL) netlib_tls_options_add_ca_file(tls, file);
    if (directory != NULL) netlib_tls_options_add_ca_dir(tls, directory);
}

/* Sets the TLS options that apply to every server, including the targets of redirects. */
static void set_rules(netlib_tls_options *tls, const struct options *options) {
    set_trust(tls, options->cacert, options->capath);
    if (options->crlfile != NULL) netlib_tls_options_add_crl_file(tls, options->crlfile);
    for (size_t i = 0; i < options->pin_count; i++) netlib_tls_options_add_pin(tls, options->pins[i]);
    if (options->ciphers != NULL) netlib_tls_options_set_ciphers(tls, options->ciphers);
    if (options->tls_max != 0) netlib_tls_options_set_maximum_version(tls, options->tls_max);
    if (options->insecure) {
        netlib_tls_options_set_check_hostname(tls, 0);
        netlib_tls_options_set_verify_mode(tls, NETLIB_CERT_NONE);
    }
}

static void set_identity(netlib_tls_options *tls, const struct options *options) {
    if (options->cert == NULL) return;
    netlib_tls_options_set_identity_files(tls, options->cert, options->key);
    if (options->pass != NULL) netlib_tls_options_set_key_password(tls, options->pass, NETLIB_NTS);
}

netlib_status tls_make_context(const struct options *options, enum tls_peer peer, netlib_tls_context **context,
                               netlib_error **err) {
    netlib_tls_options *tls = netlib_tls_options_new();
    if (peer == TLS_PROXY) {
        set_trust(tls, options->proxy_cacert, NULL);
    } else {
        set_rules(tls, options);
    }
    if (peer == TLS_ORIGIN) set_identity(tls, options);
    /* An ECHConfigList is valid for one server name, so connections to the targets of redirects do not use it. */
    if (peer == TLS_ORIGIN && options->ech != NULL) {
        netlib_tls_options_set_ech_config_list(tls, options->ech, NETLIB_NTS);
    }
    netlib_tls_options_add_alpn_protocol(tls, "http/1.1");
    netlib_status status = netlib_tls_context_new(tls, context, err);
    netlib_tls_options_free(tls);
    return status;
}

netlib_status tls_check_fingerprint(const struct options *options, const netlib_stream *stream, netlib_error **err) {
    if (stream == NULL && (options->fingerprint != NULL || options->pin_count > 0)) {
        return fail(NETLIB_FINGERPRINT_MISMATCH, err, "%s: a server without TLS has no certificate",
                    options->fingerprint != NULL ? "--fingerprint" : "--pin");
    }
    if (options->fingerprint == NULL) return NETLIB_OK;
    size_t len = 0;
    const uint8_t *certificate = netlib_stream_peer_certificate(stream, 0, &len);
    return netlib_assert_fingerprint(certificate, len, options->fingerprint, err);
}
