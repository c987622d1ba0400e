/* The declarations of netlib.h for cffi, LuaJIT's ffi.cdef and PHP's FFI::cdef, which have no preprocessor. C and C++
 * programs include netlib.h. netlib.api.json contains the macros and the documentation.
 *
 * This file is generated from the sources of the library. To change it, change the sources and run `make header`.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */

typedef struct netlib_error netlib_error;
typedef struct netlib_error_options netlib_error_options;
typedef struct netlib_bytes netlib_bytes;
typedef struct netlib_limit netlib_limit;
typedef struct netlib_url netlib_url;
typedef struct netlib_url_options netlib_url_options;
typedef struct netlib_query netlib_query;
typedef struct netlib_url_readings netlib_url_readings;
typedef struct netlib_timeout netlib_timeout;
typedef struct netlib_retry netlib_retry;
typedef struct netlib_retry_options netlib_retry_options;
typedef struct netlib_decision netlib_decision;
typedef struct netlib_store netlib_store;
typedef struct netlib_retry_budget netlib_retry_budget;
typedef struct netlib_retry_budget_options netlib_retry_budget_options;
typedef struct netlib_breaker netlib_breaker;
typedef struct netlib_breaker_options netlib_breaker_options;
typedef struct netlib_hedge netlib_hedge;
typedef struct netlib_hedge_options netlib_hedge_options;
typedef struct netlib_hedge_plan netlib_hedge_plan;
typedef struct netlib_rate netlib_rate;
typedef struct netlib_rate_options netlib_rate_options;
typedef struct netlib_headers netlib_headers;
typedef struct netlib_headers_options netlib_headers_options;
typedef struct netlib_request netlib_request;
typedef struct netlib_attempts netlib_attempts;
typedef struct netlib_response netlib_response;
typedef struct netlib_body_decoder netlib_body_decoder;
typedef struct netlib_body netlib_body;
typedef struct netlib_connect_options netlib_connect_options;
typedef struct netlib_addresses netlib_addresses;
typedef struct netlib_connect netlib_connect;
typedef struct netlib_throughput netlib_throughput;
typedef struct netlib_stream netlib_stream;
typedef struct netlib_tls_context netlib_tls_context;
typedef struct netlib_tls_options netlib_tls_options;
typedef struct netlib_tls_engine netlib_tls_engine;
typedef struct netlib_tls_session netlib_tls_session;
typedef struct netlib_certificate netlib_certificate;

enum {
    NETLIB_NONE = -2147483647 - 1
};

enum {
    NETLIB_RETRY_DISABLED = -2147483647
};

enum {
    NETLIB_POSITION_NONE = -1
};

enum {
    NETLIB_POSITION_FAILED = -2
};

enum {
    NETLIB_FD_MANAGED = -2
};

enum netlib_status_code {
    NETLIB_OK = 0,
    NETLIB_WANT_READ = 100,
    NETLIB_WANT_WRITE = 101,
    NETLIB_TIMED_OUT = 102,
    NETLIB_END_OF_STREAM = 103,
    NETLIB_WANT_ADDRESSES = 104,
    NETLIB_RATE_LIMITED = 105,
    NETLIB_SEND_AGAIN = 106,
    NETLIB_NULL_ARGUMENT = 200,
    NETLIB_INVALID_ARGUMENT = 201,
    NETLIB_INVALID_UTF8 = 202,
    NETLIB_UNSUPPORTED = 203,
    NETLIB_INVALID_HEADER = 204,
    NETLIB_INVALID_PEM = 205,
    NETLIB_KEY_MISMATCH = 206,
    NETLIB_NO_TRUST_ANCHORS = 207,
    NETLIB_PASSWORD_REQUIRED = 208,
    NETLIB_WRONG_PASSWORD = 209,
    NETLIB_NO_CIPHER_SUITES = 210,
    NETLIB_TIMEOUT_STATE_ERROR = 300,
    NETLIB_BUSY = 301,
    NETLIB_CLOSED = 302,
    NETLIB_UNREWINDABLE_BODY = 303,
    NETLIB_CALLBACK_FAILED = 304,
    NETLIB_TOO_MUCH_DATA = 305,
    NETLIB_INTERNAL = 400,
    NETLIB_OUT_OF_MEMORY = 401,
    NETLIB_IO = 402,
    NETLIB_CANCELLED = 500,
    NETLIB_DEADLINE_EXCEEDED = 501,
    NETLIB_CONNECT_TIMEOUT = 502,
    NETLIB_READ_TIMEOUT = 503,
    NETLIB_WRITE_TIMEOUT = 504,
    NETLIB_TOO_SLOW = 505,
    NETLIB_INTERRUPTED = 506,
    NETLIB_INVALID_URL = 600,
    NETLIB_NAME_RESOLUTION = 700,
    NETLIB_CONNECT_FAILED = 701,
    NETLIB_PROXY_FAILED = 702,
    NETLIB_ADDRESS_REFUSED = 703,
    NETLIB_CERTIFICATE_VERIFY = 800,
    NETLIB_HOSTNAME_MISMATCH = 801,
    NETLIB_FINGERPRINT_MISMATCH = 802,
    NETLIB_NOT_TLS = 803,
    NETLIB_TLS_ALERT = 804,
    NETLIB_TLS_PROTOCOL = 805,
    NETLIB_TLS_TRUNCATED = 806,
    NETLIB_TLS_HANDSHAKE_EOF = 807,
    NETLIB_TLS_INCOMPATIBLE = 808,
    NETLIB_TLS_ECH_REJECTED = 809,
    NETLIB_PROTOCOL = 900,
    NETLIB_INCOMPLETE_READ = 901,
    NETLIB_HEADER_PARSING = 902,
    NETLIB_RESPONSE_STATUS = 903,
    NETLIB_TOO_MANY_REDIRECTS = 904,
    NETLIB_STALE_CONNECTION = 905,
    NETLIB_MAX_RETRY = 1000,
    NETLIB_UNSAFE_REDIRECT = 1001,
    NETLIB_RETRY_BUDGET_EMPTY = 1002,
    NETLIB_BREAKER_OPEN = 1003,
    NETLIB_STORE_UNAVAILABLE = 1004,
    NETLIB_APPLICATION_ERROR = 1100
};

enum netlib_class {
    NETLIB_CLASS_SUCCESS = 0,
    NETLIB_CLASS_PROGRESS = 1,
    NETLIB_CLASS_ARGUMENT = 2,
    NETLIB_CLASS_STATE = 3,
    NETLIB_CLASS_SYSTEM = 4,
    NETLIB_CLASS_TIME = 5,
    NETLIB_CLASS_URL = 6,
    NETLIB_CLASS_CONNECT = 7,
    NETLIB_CLASS_TLS = 8,
    NETLIB_CLASS_HTTP = 9,
    NETLIB_CLASS_RETRY = 10,
    NETLIB_CLASS_APPLICATION = 11
};

enum netlib_retry_kind {
    NETLIB_RETRY_KIND_NEVER = 0,
    NETLIB_RETRY_KIND_CONNECT = 1,
    NETLIB_RETRY_KIND_READ = 2,
    NETLIB_RETRY_KIND_OTHER = 3,
    NETLIB_RETRY_KIND_BY_CAUSE = 4
};

enum netlib_verdict {
    NETLIB_VERDICT_FAILED = 0,
    NETLIB_VERDICT_ALLOW = 1,
    NETLIB_VERDICT_REFUSE = 2
};

enum netlib_outcome {
    NETLIB_OUTCOME_FAILED = 0,
    NETLIB_OUTCOME_DONE = 1
};

enum netlib_certificate_problem {
    NETLIB_CERTIFICATE_PROBLEM_NONE = 0,
    NETLIB_CERTIFICATE_PROBLEM_EXPIRED = 1,
    NETLIB_CERTIFICATE_PROBLEM_NOT_YET_VALID = 2,
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_ISSUER = 3,
    NETLIB_CERTIFICATE_PROBLEM_NAME_MISMATCH = 4,
    NETLIB_CERTIFICATE_PROBLEM_REVOKED = 5,
    NETLIB_CERTIFICATE_PROBLEM_BAD_SIGNATURE = 6,
    NETLIB_CERTIFICATE_PROBLEM_WRONG_PURPOSE = 7,
    NETLIB_CERTIFICATE_PROBLEM_MALFORMED = 8,
    NETLIB_CERTIFICATE_PROBLEM_OTHER = 9,
    NETLIB_CERTIFICATE_PROBLEM_SELF_SIGNED = 10,
    NETLIB_CERTIFICATE_PROBLEM_INCOMPLETE_CHAIN = 11,
    NETLIB_CERTIFICATE_PROBLEM_AUTHORITY_AS_LEAF = 12,
    NETLIB_CERTIFICATE_PROBLEM_WEAK_KEY = 13,
    NETLIB_CERTIFICATE_PROBLEM_WEAK_SIGNATURE = 14,
    NETLIB_CERTIFICATE_PROBLEM_REVOCATION_UNKNOWN = 15,
    NETLIB_CERTIFICATE_PROBLEM_MISSING = 16,
    NETLIB_CERTIFICATE_PROBLEM_NOT_PINNED = 17,
    NETLIB_CERTIFICATE_PROBLEM_NAME_CONSTRAINTS = 18,
    NETLIB_CERTIFICATE_PROBLEM_PATH_LENGTH = 19,
    NETLIB_CERTIFICATE_PROBLEM_UNKNOWN_CRITICAL_EXTENSION = 20,
    NETLIB_CERTIFICATE_PROBLEM_TOO_COMPLEX = 21,
    NETLIB_CERTIFICATE_PROBLEM_NOT_CA = 22
};

enum netlib_timeout_kind {
    NETLIB_TIMEOUT_KIND_NONE = 0,
    NETLIB_TIMEOUT_KIND_CONNECT = 1,
    NETLIB_TIMEOUT_KIND_READ = 2,
    NETLIB_TIMEOUT_KIND_TOTAL = 3
};

enum netlib_rewind_problem {
    NETLIB_REWIND_PROBLEM_NONE = 0,
    NETLIB_REWIND_PROBLEM_NO_POSITION = 1,
    NETLIB_REWIND_PROBLEM_POSITION_FAILED = 2,
    NETLIB_REWIND_PROBLEM_NO_SEEK = 3,
    NETLIB_REWIND_PROBLEM_SEEK_FAILED = 4
};

enum netlib_header_defect {
    NETLIB_HEADER_DEFECT_NONE = 0,
    NETLIB_HEADER_DEFECT_NOT_A_HEADER = 1,
    NETLIB_HEADER_DEFECT_CONTINUATION_FIRST = 2,
    NETLIB_HEADER_DEFECT_MISPLACED_ENVELOPE = 3,
    NETLIB_HEADER_DEFECT_NO_NAME = 4,
    NETLIB_HEADER_DEFECT_NO_BOUNDARY = 5,
    NETLIB_HEADER_DEFECT_MULTIPART_ENCODING = 6,
    NETLIB_HEADER_DEFECT_UNREAD_DATA = 7
};

enum netlib_interrupt {
    NETLIB_INTERRUPT_FAILED = 0,
    NETLIB_INTERRUPT_CONTINUE = 1,
    NETLIB_INTERRUPT_STOP = 2
};

enum {
    NETLIB_URL_MAX = 16777216
};

enum netlib_url_component {
    NETLIB_URL_COMPONENT_USERINFO_PART = 0,
    NETLIB_URL_COMPONENT_PATH_SEGMENT = 1,
    NETLIB_URL_COMPONENT_PATH = 2,
    NETLIB_URL_COMPONENT_QUERY_PART = 3,
    NETLIB_URL_COMPONENT_FORM_PART = 4,
    NETLIB_URL_COMPONENT_QUERY = 5,
    NETLIB_URL_COMPONENT_FRAGMENT = 6
};

enum netlib_query_format {
    NETLIB_QUERY_FORMAT_FORM = 0,
    NETLIB_QUERY_FORMAT_RFC3986 = 1,
    NETLIB_QUERY_MAX_PAIRS = 65536
};

enum netlib_url_reader {
    NETLIB_URL_READER_RFC3986 = 0,
    NETLIB_URL_READER_WHATWG = 1,
    NETLIB_URL_READER_NETLIB = 2
};

enum netlib_url_difference {
    NETLIB_URL_DIFFERENCE_ACCEPTANCE = 1,
    NETLIB_URL_DIFFERENCE_SCHEME = 2,
    NETLIB_URL_DIFFERENCE_HOST = 4,
    NETLIB_URL_DIFFERENCE_PORT = 8
};

enum netlib_delay_reason {
    NETLIB_DELAY_NONE = 0,
    NETLIB_DELAY_BACKOFF = 1,
    NETLIB_DELAY_RETRY_AFTER = 2,
    NETLIB_DELAY_PUSHBACK = 3
};

enum {
    NETLIB_RETRY_DEFAULT_TOTAL = 10
};

enum netlib_redirect_profile {
    NETLIB_REDIRECT_URLLIB3 = 0,
    NETLIB_REDIRECT_SAFE = 1
};

enum netlib_jitter_kind {
    NETLIB_JITTER_ADDITIVE = 0,
    NETLIB_JITTER_FULL = 1,
    NETLIB_JITTER_EQUAL = 2,
    NETLIB_JITTER_DECORRELATED = 3,
    NETLIB_JITTER_NONE = 4
};

enum netlib_long_retry_after {
    NETLIB_LONG_RETRY_AFTER_CLAMP = 0,
    NETLIB_LONG_RETRY_AFTER_STOP = 1
};

enum netlib_pushback {
    NETLIB_PUSHBACK_MILLISECONDS = 0,
    NETLIB_PUSHBACK_GRPC = 1
};

enum netlib_action {
    NETLIB_ACTION_RETURN_RESPONSE = 0,
    NETLIB_ACTION_RETRY = 1,
    NETLIB_ACTION_REDIRECT = 2
};

enum netlib_counter {
    NETLIB_COUNTER_NONE = 0,
    NETLIB_COUNTER_CONNECT = 1,
    NETLIB_COUNTER_READ = 2,
    NETLIB_COUNTER_REDIRECT = 3,
    NETLIB_COUNTER_STATUS = 4,
    NETLIB_COUNTER_OTHER = 5
};

enum netlib_report {
    NETLIB_REPORT_SUCCESS = 0,
    NETLIB_REPORT_FAILURE = 1,
    NETLIB_REPORT_THROTTLED = 2,
    NETLIB_REPORT_NONE = 3
};

enum netlib_unavailable {
    NETLIB_UNAVAILABLE_LOCAL = 0,
    NETLIB_UNAVAILABLE_OPEN = 1,
    NETLIB_UNAVAILABLE_CLOSED = 2
};

enum netlib_swap {
    NETLIB_SWAP_FAILED = 0,
    NETLIB_SWAP_SWAPPED = 1,
    NETLIB_SWAP_CHANGED = 2,
    NETLIB_SWAP_UNAVAILABLE = 3
};

enum {
    NETLIB_RETRY_BUDGET_DEFAULT_MAX_KEYS = 1024
};

enum netlib_budget_preset {
    NETLIB_BUDGET_AWS_2026 = 0,
    NETLIB_BUDGET_AWS_2020 = 1,
    NETLIB_BUDGET_GRPC = 2,
    NETLIB_BUDGET_FINAGLE = 3,
    NETLIB_BUDGET_ENVOY = 4
};

enum netlib_budget_kind {
    NETLIB_BUDGET_REQUEST = 0,
    NETLIB_BUDGET_TRANSIENT = 1,
    NETLIB_BUDGET_THROTTLING = 2,
    NETLIB_BUDGET_HEDGE = 3
};

enum {
    NETLIB_BREAKER_DEFAULT_MAX_KEYS = 1024
};

enum netlib_circuit_state {
    NETLIB_CIRCUIT_CLOSED = 0,
    NETLIB_CIRCUIT_OPEN = 1,
    NETLIB_CIRCUIT_HALF_OPEN = 2
};

enum netlib_hedge_event {
    NETLIB_HEDGE_EVENT_TIMER = 0,
    NETLIB_HEDGE_EVENT_SUCCESS = 1,
    NETLIB_HEDGE_EVENT_FAILURE = 2,
    NETLIB_HEDGE_EVENT_FATAL = 3
};

enum netlib_hedge_action {
    NETLIB_HEDGE_ACTION_WAIT = 0,
    NETLIB_HEDGE_ACTION_START = 1,
    NETLIB_HEDGE_ACTION_CANCEL_OTHERS = 2,
    NETLIB_HEDGE_ACTION_DONE = 3,
    NETLIB_HEDGE_ACTION_FAILED = 4
};

enum {
    NETLIB_RATE_DEFAULT_MAX_KEYS = 1024
};

enum netlib_request_form {
    NETLIB_REQUEST_FORM_ORIGIN = 0,
    NETLIB_REQUEST_FORM_ABSOLUTE = 1,
    NETLIB_REQUEST_FORM_AUTHORITY = 2,
    NETLIB_REQUEST_FORM_ASTERISK = 3
};

enum {
    NETLIB_RESPONSE_HEAD_MAX = 262144
};

enum netlib_body_framing {
    NETLIB_BODY_FRAMING_NONE = 0,
    NETLIB_BODY_FRAMING_LENGTH = 1,
    NETLIB_BODY_FRAMING_CHUNKED = 2,
    NETLIB_BODY_FRAMING_UNTIL_CLOSE = 3
};

enum {
    NETLIB_CHUNK_PREFIX_SIZE = 18
};

enum {
    NETLIB_CHUNK_SUFFIX_SIZE = 2
};

enum netlib_address_family {
    NETLIB_ADDRESS_FAMILY_ANY = 0,
    NETLIB_ADDRESS_FAMILY_IPV4 = 1,
    NETLIB_ADDRESS_FAMILY_IPV6 = 2
};

enum netlib_address_class {
    NETLIB_ADDRESS_CLASS_METADATA = 1,
    NETLIB_ADDRESS_CLASS_LOOPBACK = 2,
    NETLIB_ADDRESS_CLASS_UNSPECIFIED = 4,
    NETLIB_ADDRESS_CLASS_LINK_LOCAL = 8,
    NETLIB_ADDRESS_CLASS_PRIVATE = 16,
    NETLIB_ADDRESS_CLASS_SHARED = 32,
    NETLIB_ADDRESS_CLASS_MULTICAST = 64,
    NETLIB_ADDRESS_CLASS_RESERVED = 128,
    NETLIB_ADDRESS_CLASS_DOCUMENTATION = 256,
    NETLIB_ADDRESS_CLASS_BENCHMARKING = 512,
    NETLIB_ADDRESS_CLASS_SPECIAL = 1024,
    NETLIB_ADDRESS_CLASS_UNIX = 2048,
    NETLIB_ADDRESS_CLASS_GLOBAL = 4096,
    NETLIB_ADDRESS_CLASS_ALL_BUT_GLOBAL = 4095
};

enum netlib_verify_mode {
    NETLIB_CERT_NONE = 0,
    NETLIB_CERT_OPTIONAL = 1,
    NETLIB_CERT_REQUIRED = 2
};

enum netlib_verify_flag {
    NETLIB_VERIFY_FLAG_DEFAULT = 0,
    NETLIB_VERIFY_FLAG_CRL_CHECK_LEAF = 4,
    NETLIB_VERIFY_FLAG_CRL_CHECK_CHAIN = 12,
    NETLIB_VERIFY_FLAG_X509_STRICT = 32,
    NETLIB_VERIFY_FLAG_ALLOW_PROXY_CERTS = 64,
    NETLIB_VERIFY_FLAG_X509_TRUSTED_FIRST = 32768,
    NETLIB_VERIFY_FLAG_X509_PARTIAL_CHAIN = 524288
};

enum netlib_tls_version {
    NETLIB_TLS_VERSION_MINIMUM_SUPPORTED = -2,
    NETLIB_TLS_VERSION_MAXIMUM_SUPPORTED = -1,
    NETLIB_TLS_VERSION_NONE = 0,
    NETLIB_TLS_VERSION_1_2 = 771,
    NETLIB_TLS_VERSION_1_3 = 772
};

enum netlib_early_data_status {
    NETLIB_EARLY_DATA_NOT_SENT = 0,
    NETLIB_EARLY_DATA_REJECTED = 1,
    NETLIB_EARLY_DATA_ACCEPTED = 2,
    NETLIB_EARLY_DATA_UNDECIDED = 3
};

enum netlib_ech_status {
    NETLIB_ECH_NOT_OFFERED = 0,
    NETLIB_ECH_GREASE = 1,
    NETLIB_ECH_OFFERED = 2,
    NETLIB_ECH_ACCEPTED = 3,
    NETLIB_ECH_REJECTED = 4
};

enum netlib_certificate_name_kind {
    NETLIB_CERTIFICATE_NAME_NONE = 0,
    NETLIB_CERTIFICATE_NAME_DNS = 1,
    NETLIB_CERTIFICATE_NAME_IP = 2,
    NETLIB_CERTIFICATE_NAME_EMAIL = 3,
    NETLIB_CERTIFICATE_NAME_URI = 4
};

enum netlib_distinguished_name {
    NETLIB_DISTINGUISHED_NAME_SUBJECT = 0,
    NETLIB_DISTINGUISHED_NAME_ISSUER = 1
};

enum netlib_purpose {
    NETLIB_PURPOSE_CLIENT_AUTH = 1,
    NETLIB_PURPOSE_SERVER_AUTH = 2
};

enum netlib_trust_kind {
    NETLIB_TRUST_NONE = 0,
    NETLIB_TRUST_SYSTEM = 1,
    NETLIB_TRUST_EMBEDDED = 2,
    NETLIB_TRUST_CUSTOM = 4
};

enum {
    NETLIB_CONNECTION_KEY_SIZE = 65
};

enum netlib_ssl_version {
    NETLIB_SSL_VERSION_TLS = 2,
    NETLIB_SSL_VERSION_TLSv1_2 = 5,
    NETLIB_SSL_VERSION_TLS_CLIENT = 16,
    NETLIB_SSL_VERSION_TLS_SERVER = 17
};

enum netlib_tls_option {
    NETLIB_OP_LEGACY_SERVER_CONNECT = 4,
    NETLIB_OP_ENABLE_KTLS = 8,
    NETLIB_OP_IGNORE_UNEXPECTED_EOF = 128,
    NETLIB_OP_NO_TICKET = 16384,
    NETLIB_OP_NO_COMPRESSION = 131072,
    NETLIB_OP_ENABLE_MIDDLEBOX_COMPAT = 1048576,
    NETLIB_OP_CIPHER_SERVER_PREFERENCE = 4194304,
    NETLIB_OP_NO_SSLv3 = 33554432,
    NETLIB_OP_NO_TLSv1 = 67108864,
    NETLIB_OP_NO_TLSv1_2 = 134217728,
    NETLIB_OP_NO_TLSv1_1 = 268435456,
    NETLIB_OP_NO_TLSv1_3 = 536870912,
    NETLIB_OP_NO_RENEGOTIATION = 1073741824,
    NETLIB_OP_NO_SSLv2 = 0,
    NETLIB_OP_SINGLE_DH_USE = 0,
    NETLIB_OP_SINGLE_ECDH_USE = 0
};

typedef int32_t netlib_status;
typedef struct netlib_header_field {
    const char *name;
    const char *value;
} netlib_header_field;
typedef struct netlib_slice {
    const void *data;
    size_t len;
} netlib_slice;
typedef void (*netlib_ctx_free_fn)(void *ctx);
typedef void (*netlib_interrupt_fn)(void *ctx, enum netlib_interrupt *decision);
typedef int32_t (*netlib_clock_fn)(void *ctx, double *seconds);
typedef int32_t (*netlib_wall_clock_fn)(void *ctx, double *seconds);
typedef void (*netlib_sleep_fn)(void *ctx, double seconds, enum netlib_outcome *outcome);
typedef int32_t (*netlib_random_fn)(void *ctx, double *value);
typedef void (*netlib_store_swap_fn)(void *ctx, const char *key, size_t len, uint64_t expected, uint64_t desired,
                                     double ttl, double timeout, enum netlib_swap *answer, uint64_t *actual,
                                     double *now);
typedef int32_t (*netlib_body_read_fn)(void *ctx, void *buf, size_t len, size_t *n);
typedef int32_t (*netlib_body_tell_fn)(void *ctx, int64_t *pos);
typedef void (*netlib_body_seek_fn)(void *ctx, int64_t pos, enum netlib_outcome *outcome);
typedef int32_t (*netlib_body_is_closed_fn)(void *ctx, int32_t *closed);
typedef void (*netlib_address_fn)(void *ctx, const void *address, size_t len, int32_t classes,
                                  enum netlib_verdict *verdict);
typedef int32_t (*netlib_resolve_fn)(void *ctx, const char *host, int32_t port, double seconds_left,
                                     netlib_addresses *addresses);
typedef int32_t (*netlib_stream_read_fn)(void *ctx, void *buf, size_t len, size_t *n);
typedef int32_t (*netlib_stream_write_fn)(void *ctx, const void *buf, size_t len, size_t *n);
typedef void (*netlib_tls_servername_fn)(void *ctx, const char *server_name, netlib_tls_context **replacement,
                                         enum netlib_verdict *verdict);

size_t netlib_nts(void);
const char *netlib_version(void);
int32_t netlib_version_number(void);
const char *netlib_status_name(netlib_status status);
const char *netlib_status_text(netlib_status status);
enum netlib_class netlib_status_class(netlib_status status);
enum netlib_retry_kind netlib_status_retry_kind(netlib_status status);
netlib_error_options *netlib_error_options_new(void);
netlib_error_options *netlib_error_options_clone(const netlib_error_options *options);
netlib_status netlib_error_options_check(const netlib_error_options *options, netlib_error **err);
void netlib_error_options_free(netlib_error_options *options);
void netlib_error_options_set_cause(netlib_error_options *options, const netlib_error *cause);
void netlib_error_options_set_retry_kind(netlib_error_options *options, enum netlib_retry_kind kind);
netlib_status netlib_error_new(netlib_status status, const char *message, const netlib_error_options *options,
                               netlib_error **error, netlib_error **err);
netlib_error *netlib_error_clone(const netlib_error *error);
void netlib_error_free(netlib_error *error);
netlib_status netlib_error_status(const netlib_error *error);
enum netlib_retry_kind netlib_error_retry_kind(const netlib_error *error);
const char *netlib_error_message(const netlib_error *error, size_t *len);
const char *netlib_error_advice(const netlib_error *error, size_t *len);
const char *netlib_error_report(const netlib_error *error, size_t *len);
size_t netlib_error_cause_count(const netlib_error *error);
const netlib_error *netlib_error_cause(const netlib_error *error, size_t index);
int32_t netlib_error_errno(const netlib_error *error);
int32_t netlib_error_resolver_code(const netlib_error *error);
int32_t netlib_error_tls_alert(const netlib_error *error);
enum netlib_certificate_problem netlib_error_certificate_problem(const netlib_error *error);
int64_t netlib_error_certificate_index(const netlib_error *error);
int64_t netlib_error_offset(const netlib_error *error);
void netlib_error_options_set_http_status(netlib_error_options *options, int32_t http_status);
void netlib_error_options_set_user_data(netlib_error_options *options, void *ctx, netlib_ctx_free_fn ctx_free);
void *netlib_error_user_data(const netlib_error *error);
int32_t netlib_error_http_status(const netlib_error *error);
const char *netlib_error_expected_fingerprint(const netlib_error *error, size_t *len);
const char *netlib_error_actual_fingerprint(const netlib_error *error, size_t *len);
const char *netlib_error_public_key_pin(const netlib_error *error, size_t *len);
enum netlib_timeout_kind netlib_error_invalid_timeout(const netlib_error *error);
enum netlib_rewind_problem netlib_error_rewind_problem(const netlib_error *error);
enum netlib_header_defect netlib_error_header_defect(const netlib_error *error);
int64_t netlib_error_header_defect_line(const netlib_error *error);
int64_t netlib_error_unparsed_offset(const netlib_error *error);
const char *netlib_bytes_data(const netlib_bytes *bytes, size_t *len);
netlib_bytes *netlib_bytes_clone(const netlib_bytes *bytes);
void netlib_bytes_free(netlib_bytes *bytes);
netlib_status netlib_limit_new(double seconds, const netlib_limit *parent, netlib_limit **limit, netlib_error **err);
netlib_status netlib_limit_new_interruptible(double seconds, const netlib_limit *parent, netlib_interrupt_fn check,
                                             void *ctx, netlib_ctx_free_fn ctx_free, netlib_limit **limit,
                                             netlib_error **err);
netlib_limit *netlib_limit_clone(const netlib_limit *limit);
void netlib_limit_free(netlib_limit *limit);
void netlib_limit_cancel(const netlib_limit *limit);
netlib_status netlib_limit_check(const netlib_limit *limit, netlib_error **err);
netlib_status netlib_limit_fd(const netlib_limit *limit, int *fd, netlib_error **err);
double netlib_limit_remaining(const netlib_limit *limit);
netlib_status netlib_parse_url(const char *url, size_t len, netlib_url **out, netlib_error **err);
netlib_status netlib_parse_url_strict(const char *url, size_t len, netlib_url **out, netlib_error **err);
netlib_status netlib_url_new(const char *scheme, const char *auth, const char *host, int32_t port, const char *path,
                             const char *query, const char *fragment, netlib_url **url, netlib_error **err);
netlib_url *netlib_url_clone(const netlib_url *url);
void netlib_url_free(netlib_url *url);
const char *netlib_url_scheme(const netlib_url *url, size_t *len);
const char *netlib_url_auth(const netlib_url *url, size_t *len);
netlib_status netlib_url_username(const netlib_url *url, const char **username, size_t *len, netlib_error **err);
netlib_status netlib_url_password(const netlib_url *url, const char **password, size_t *len, netlib_error **err);
const char *netlib_url_host(const netlib_url *url, size_t *len);
const char *netlib_url_hostname(const netlib_url *url, size_t *len);
int32_t netlib_url_port(const netlib_url *url);
int32_t netlib_url_port_or_default(const netlib_url *url);
const char *netlib_url_path(const netlib_url *url, size_t *len);
const char *netlib_url_query(const netlib_url *url, size_t *len);
const char *netlib_url_fragment(const netlib_url *url, size_t *len);
const char *netlib_url_authority(const netlib_url *url, size_t *len);
const char *netlib_url_netloc(const netlib_url *url, size_t *len);
const char *netlib_url_request_uri(const netlib_url *url, size_t *len);
const char *netlib_url_to_string(const netlib_url *url, size_t *len);
const char *netlib_url_redacted(const netlib_url *url, size_t *len);
netlib_status netlib_url_resolve(const netlib_url *base, const char *reference, size_t len, netlib_url **url,
                                 netlib_error **err);
int32_t netlib_url_same_origin(const netlib_url *a, const netlib_url *b);
netlib_url_options *netlib_url_options_new(void);
netlib_url_options *netlib_url_to_options(const netlib_url *url);
netlib_status netlib_url_from_options(const netlib_url_options *options, netlib_url **url, netlib_error **err);
netlib_url_options *netlib_url_options_clone(const netlib_url_options *options);
netlib_status netlib_url_options_check(const netlib_url_options *options, netlib_error **err);
void netlib_url_options_free(netlib_url_options *options);
void netlib_url_options_set_scheme(netlib_url_options *options, const char *scheme);
void netlib_url_options_set_auth(netlib_url_options *options, const char *auth);
void netlib_url_options_set_credentials(netlib_url_options *options, const char *username, const char *password);
void netlib_url_options_set_host(netlib_url_options *options, const char *host);
void netlib_url_options_set_port(netlib_url_options *options, int32_t port);
void netlib_url_options_set_path(netlib_url_options *options, const char *path);
void netlib_url_options_set_query(netlib_url_options *options, const char *query);
void netlib_url_options_set_fragment(netlib_url_options *options, const char *fragment);
netlib_status netlib_percent_encode(enum netlib_url_component component, const void *data, size_t len,
                                    netlib_bytes **text, netlib_error **err);
netlib_status netlib_percent_decode(enum netlib_url_component component, const char *text, size_t len,
                                    netlib_bytes **data, netlib_error **err);
netlib_status netlib_query_parse(const char *text, size_t len, enum netlib_query_format format, netlib_query **query,
                                 netlib_error **err);
void netlib_query_free(netlib_query *query);
size_t netlib_query_count(const netlib_query *query);
const char *netlib_query_name(const netlib_query *query, size_t index, size_t *len);
const char *netlib_query_value(const netlib_query *query, size_t index, size_t *len);
size_t netlib_query_find(const netlib_query *query, const char *name, size_t len, size_t from);
netlib_status netlib_query_append(netlib_query *query, const char *name, size_t name_len, const char *value,
                                  size_t value_len, netlib_error **err);
netlib_status netlib_query_set(netlib_query *query, const char *name, size_t name_len, const char *value,
                               size_t value_len, netlib_error **err);
size_t netlib_query_remove(netlib_query *query, const char *name, size_t len);
const char *netlib_query_to_string(const netlib_query *query, size_t *len);
int32_t netlib_no_proxy_match(const char *list, const netlib_url *url);
netlib_status netlib_url_compare_readers(const char *text, size_t len, netlib_url_readings **readings,
                                         netlib_error **err);
netlib_url_readings *netlib_url_readings_clone(const netlib_url_readings *readings);
void netlib_url_readings_free(netlib_url_readings *readings);
int32_t netlib_url_readings_differences(const netlib_url_readings *readings, enum netlib_url_reader a,
                                        enum netlib_url_reader b);
int32_t netlib_url_readings_accepted(const netlib_url_readings *readings, enum netlib_url_reader reader);
const char *netlib_url_readings_scheme(const netlib_url_readings *readings, enum netlib_url_reader reader,
                                       size_t *len);
const char *netlib_url_readings_host(const netlib_url_readings *readings, enum netlib_url_reader reader, size_t *len);
int32_t netlib_url_readings_port(const netlib_url_readings *readings, enum netlib_url_reader reader);
netlib_status netlib_timeout_new(double total, double connect, double read, netlib_timeout **timeout,
                                 netlib_error **err);
netlib_timeout *netlib_timeout_clone(const netlib_timeout *timeout);
void netlib_timeout_free(netlib_timeout *timeout);
netlib_status netlib_timeout_set_clock(netlib_timeout *timeout, netlib_clock_fn clock, void *ctx,
                                       netlib_ctx_free_fn ctx_free, netlib_error **err);
netlib_status netlib_timeout_start_connect(netlib_timeout *timeout, netlib_error **err);
netlib_status netlib_timeout_get_connect_duration(const netlib_timeout *timeout, double *seconds, netlib_error **err);
double netlib_timeout_connect_timeout(const netlib_timeout *timeout);
netlib_status netlib_timeout_read_timeout(const netlib_timeout *timeout, double *seconds, netlib_error **err);
double netlib_timeout_configured_total(const netlib_timeout *timeout);
double netlib_timeout_configured_connect(const netlib_timeout *timeout);
double netlib_timeout_configured_read(const netlib_timeout *timeout);
double netlib_timeout_none(void);
netlib_status netlib_set_default_timeout(double seconds, netlib_error **err);
double netlib_default_timeout(void);
netlib_status netlib_retry_new(const netlib_retry_options *options, netlib_retry **retry, netlib_error **err);
netlib_retry *netlib_retry_clone(const netlib_retry *retry);
void netlib_retry_free(netlib_retry *retry);
netlib_retry_options *netlib_retry_to_options(const netlib_retry *retry);
netlib_status netlib_retry_increment(const netlib_retry *retry, const char *method, const char *url,
                                     const netlib_response *response, const netlib_error *error, netlib_retry **next,
                                     netlib_error **err);
netlib_status netlib_retry_is_retry(const netlib_retry *retry, const char *method, int32_t status_code,
                                    int32_t has_retry_after, int32_t *is_retry, netlib_error **err);
int32_t netlib_retry_is_exhausted(const netlib_retry *retry);
netlib_status netlib_retry_get_backoff_time(const netlib_retry *retry, double *seconds, netlib_error **err);
netlib_status netlib_retry_get_retry_after(const netlib_retry *retry, const netlib_response *response,
                                           double *seconds, netlib_error **err);
netlib_status netlib_retry_parse_retry_after(const netlib_retry *retry, const char *value, double *seconds,
                                             netlib_error **err);
netlib_status netlib_retry_delay(const netlib_retry *retry, const netlib_response *response, double *seconds,
                                 enum netlib_delay_reason *reason, double *uncapped, netlib_error **err);
netlib_status netlib_retry_sleep(const netlib_retry *retry, const netlib_response *response,
                                 const netlib_limit *limit, netlib_error **err);
netlib_status netlib_retry_sleep_for_retry(const netlib_retry *retry, const netlib_response *response,
                                           const netlib_limit *limit, int32_t *slept, netlib_error **err);
const netlib_retry *netlib_error_retry(const netlib_error *error);
netlib_retry_options *netlib_retry_options_new_recommended(void);
const netlib_retry *netlib_retry_recommended(void);
netlib_retry_options *netlib_retry_options_new(void);
netlib_retry_options *netlib_retry_options_clone(const netlib_retry_options *options);
netlib_status netlib_retry_options_check(const netlib_retry_options *options, netlib_error **err);
void netlib_retry_options_free(netlib_retry_options *options);
void netlib_retry_options_set_total(netlib_retry_options *options, int32_t count);
void netlib_retry_options_set_total_counts_redirects(netlib_retry_options *options, int32_t counts);
void netlib_retry_options_set_connect(netlib_retry_options *options, int32_t count);
void netlib_retry_options_set_read(netlib_retry_options *options, int32_t count);
void netlib_retry_options_set_redirect(netlib_retry_options *options, int32_t count);
void netlib_retry_options_set_status(netlib_retry_options *options, int32_t count);
void netlib_retry_options_set_other(netlib_retry_options *options, int32_t count);
void netlib_retry_options_set_allowed_methods(netlib_retry_options *options, const char *const *methods,
                                              size_t count);
void netlib_retry_options_allow_any_method(netlib_retry_options *options);
void netlib_retry_options_set_any_method_if_stale(netlib_retry_options *options, int32_t allow);
void netlib_retry_options_set_status_forcelist(netlib_retry_options *options, const int32_t *codes, size_t count);
void netlib_retry_options_set_backoff_factor(netlib_retry_options *options, double seconds);
void netlib_retry_options_set_backoff_max(netlib_retry_options *options, double seconds);
void netlib_retry_options_set_backoff_jitter(netlib_retry_options *options, double seconds);
void netlib_retry_options_set_retry_after_max(netlib_retry_options *options, double seconds);
void netlib_retry_options_set_raise_on_redirect(netlib_retry_options *options, int32_t raise);
void netlib_retry_options_set_raise_on_status(netlib_retry_options *options, int32_t raise);
void netlib_retry_options_set_respect_retry_after_header(netlib_retry_options *options, int32_t respect);
void netlib_retry_options_set_remove_headers_on_redirect(netlib_retry_options *options, const char *const *names,
                                                         size_t count);
void netlib_retry_options_add_sensitive_headers(netlib_retry_options *options);
void netlib_retry_options_set_keep_headers_on_redirect(netlib_retry_options *options, const char *const *names,
                                                       size_t count);
void netlib_retry_options_keep_any_header_on_redirect(netlib_retry_options *options);
void netlib_retry_options_set_redirect_profile(netlib_retry_options *options, enum netlib_redirect_profile profile);
void netlib_retry_options_add_history(netlib_retry_options *options, const char *method, const char *url,
                                      const netlib_error *error, int32_t status, const char *redirect_location);
void netlib_retry_options_set_wall_clock(netlib_retry_options *options, netlib_wall_clock_fn clock, void *ctx,
                                         netlib_ctx_free_fn ctx_free);
void netlib_retry_options_set_sleep(netlib_retry_options *options, netlib_sleep_fn sleep, void *ctx,
                                    netlib_ctx_free_fn ctx_free);
void netlib_retry_options_set_random(netlib_retry_options *options, netlib_random_fn random, void *ctx,
                                     netlib_ctx_free_fn ctx_free);
void netlib_retry_options_set_jitter_kind(netlib_retry_options *options, enum netlib_jitter_kind kind);
void netlib_retry_options_set_retry_after_statuses(netlib_retry_options *options, const int32_t *codes, size_t count);
void netlib_retry_options_obey_any_retry_after(netlib_retry_options *options);
void netlib_retry_options_set_long_retry_after(netlib_retry_options *options, enum netlib_long_retry_after over_max);
void netlib_retry_options_set_ignore_malformed_retry_after(netlib_retry_options *options, int32_t ignore);
enum netlib_jitter_kind netlib_retry_jitter_kind(const netlib_retry *retry);
int32_t netlib_retry_obeys_any_retry_after(const netlib_retry *retry);
size_t netlib_retry_retry_after_status_count(const netlib_retry *retry);
int32_t netlib_retry_retry_after_status_at(const netlib_retry *retry, size_t index);
enum netlib_long_retry_after netlib_retry_long_retry_after(const netlib_retry *retry);
int32_t netlib_retry_ignores_malformed_retry_after(const netlib_retry *retry);
void netlib_retry_options_set_throttling(netlib_retry_options *options, double base, const int32_t *statuses,
                                         size_t count);
void netlib_retry_options_set_retry_after_clamp(netlib_retry_options *options, double more);
void netlib_retry_options_set_pushback_header(netlib_retry_options *options, const char *name,
                                              enum netlib_pushback kind);
double netlib_retry_throttling_base(const netlib_retry *retry);
size_t netlib_retry_throttling_status_count(const netlib_retry *retry);
int32_t netlib_retry_throttling_status_at(const netlib_retry *retry, size_t index);
int32_t netlib_retry_is_throttled(const netlib_retry *retry);
double netlib_retry_retry_after_clamp(const netlib_retry *retry);
const char *netlib_retry_pushback_header(const netlib_retry *retry, size_t *len);
enum netlib_pushback netlib_retry_pushback_kind(const netlib_retry *retry);
netlib_status netlib_retry_decide(const netlib_retry *retry, const char *method, const netlib_url *url,
                                  const netlib_response *response, const netlib_error *error,
                                  const netlib_limit *limit, netlib_decision **decision, netlib_error **err);
netlib_decision *netlib_decision_clone(const netlib_decision *decision);
void netlib_decision_free(netlib_decision *decision);
enum netlib_action netlib_decision_action(const netlib_decision *decision);
const netlib_retry *netlib_decision_retry(const netlib_decision *decision);
enum netlib_counter netlib_decision_counter(const netlib_decision *decision);
int32_t netlib_decision_throttled(const netlib_decision *decision);
double netlib_decision_delay(const netlib_decision *decision);
enum netlib_delay_reason netlib_decision_delay_reason(const netlib_decision *decision);
double netlib_decision_delay_uncapped(const netlib_decision *decision);
netlib_status netlib_decision_sleep(const netlib_decision *decision, const netlib_limit *limit, netlib_error **err);
const netlib_url *netlib_decision_url(const netlib_decision *decision);
const char *netlib_decision_method(const netlib_decision *decision, size_t *len);
int32_t netlib_decision_resend_body(const netlib_decision *decision);
int32_t netlib_decision_drops_header(const netlib_decision *decision, const char *name);
size_t netlib_decision_dropped_header_count(const netlib_decision *decision);
const char *netlib_decision_dropped_header(const netlib_decision *decision, size_t index, size_t *len);
netlib_status netlib_decision_headers(const netlib_decision *decision, const netlib_headers *request_headers,
                                      netlib_headers **next_headers, netlib_error **err);
int32_t netlib_retry_total_left(const netlib_retry *retry);
int32_t netlib_retry_connect_left(const netlib_retry *retry);
int32_t netlib_retry_read_left(const netlib_retry *retry);
int32_t netlib_retry_redirect_left(const netlib_retry *retry);
int32_t netlib_retry_status_left(const netlib_retry *retry);
int32_t netlib_retry_other_left(const netlib_retry *retry);
double netlib_retry_backoff_factor(const netlib_retry *retry);
double netlib_retry_backoff_max(const netlib_retry *retry);
double netlib_retry_backoff_jitter(const netlib_retry *retry);
double netlib_retry_retry_after_max(const netlib_retry *retry);
int32_t netlib_retry_total_counts_redirects(const netlib_retry *retry);
int32_t netlib_retry_raise_on_redirect(const netlib_retry *retry);
int32_t netlib_retry_raise_on_status(const netlib_retry *retry);
int32_t netlib_retry_respect_retry_after_header(const netlib_retry *retry);
enum netlib_redirect_profile netlib_retry_redirect_profile(const netlib_retry *retry);
int32_t netlib_retry_allows_any_method(const netlib_retry *retry);
int32_t netlib_retry_allows_any_method_if_stale(const netlib_retry *retry);
size_t netlib_retry_allowed_method_count(const netlib_retry *retry);
const char *netlib_retry_allowed_method(const netlib_retry *retry, size_t index, size_t *len);
size_t netlib_retry_status_forcelist_count(const netlib_retry *retry);
int32_t netlib_retry_status_forcelist_at(const netlib_retry *retry, size_t index);
size_t netlib_retry_removed_header_count(const netlib_retry *retry);
const char *netlib_retry_removed_header(const netlib_retry *retry, size_t index, size_t *len);
int32_t netlib_retry_keeps_any_header(const netlib_retry *retry);
size_t netlib_retry_kept_header_count(const netlib_retry *retry);
const char *netlib_retry_kept_header(const netlib_retry *retry, size_t index, size_t *len);
size_t netlib_retry_history_count(const netlib_retry *retry);
const char *netlib_retry_history_method(const netlib_retry *retry, size_t index, size_t *len);
const char *netlib_retry_history_url(const netlib_retry *retry, size_t index, size_t *len);
const char *netlib_retry_history_redacted_url(const netlib_retry *retry, size_t index, size_t *len);
const netlib_error *netlib_retry_history_error(const netlib_retry *retry, size_t index);
int32_t netlib_retry_history_status(const netlib_retry *retry, size_t index);
const char *netlib_retry_history_redirect_location(const netlib_retry *retry, size_t index, size_t *len);
const char *netlib_retry_history_redacted_redirect_location(const netlib_retry *retry, size_t index, size_t *len);
const char *const *netlib_retry_default_allowed_methods(size_t *count);
const char *const *netlib_retry_default_remove_headers_on_redirect(size_t *count);
const char *const *netlib_sensitive_headers(size_t *count);
const int32_t *netlib_retry_after_status_codes(size_t *count);
const int32_t *netlib_redirect_status_codes(size_t *count);
double netlib_retry_default_backoff_max(void);
netlib_status netlib_store_file(const char *path, size_t slots, netlib_store **store, netlib_error **err);
netlib_status netlib_store_new(netlib_store_swap_fn swap, double timeout, void *ctx, netlib_ctx_free_fn ctx_free,
                               netlib_store **store, netlib_error **err);
netlib_store *netlib_store_clone(const netlib_store *store);
void netlib_store_free(netlib_store *store);
netlib_retry_budget_options *netlib_retry_budget_options_new(void);
netlib_retry_budget_options *netlib_retry_budget_options_clone(const netlib_retry_budget_options *options);
netlib_status netlib_retry_budget_options_check(const netlib_retry_budget_options *options, netlib_error **err);
void netlib_retry_budget_options_free(netlib_retry_budget_options *options);
void netlib_retry_budget_options_set_preset(netlib_retry_budget_options *options, enum netlib_budget_preset preset);
void netlib_retry_budget_options_set_tokens(netlib_retry_budget_options *options, double capacity,
                                            double transient_cost, double throttling_cost, double gain);
void netlib_retry_budget_options_set_failure_tokens(netlib_retry_budget_options *options, double capacity,
                                                    double gain, double floor);
void netlib_retry_budget_options_set_window(netlib_retry_budget_options *options, double ratio,
                                            double least_per_second, double seconds);
void netlib_retry_budget_options_set_in_flight(netlib_retry_budget_options *options, double ratio, int32_t least);
void netlib_retry_budget_options_set_lease_time(netlib_retry_budget_options *options, double seconds);
void netlib_retry_budget_options_set_max_keys(netlib_retry_budget_options *options, int32_t max_keys);
void netlib_retry_budget_options_set_store(netlib_retry_budget_options *options, const netlib_store *store,
                                           enum netlib_unavailable unavailable);
void netlib_retry_budget_options_set_clock(netlib_retry_budget_options *options, netlib_clock_fn clock, void *ctx,
                                           netlib_ctx_free_fn ctx_free);
netlib_status netlib_retry_budget_new(const netlib_retry_budget_options *options, netlib_retry_budget **budget,
                                      netlib_error **err);
netlib_retry_budget *netlib_retry_budget_clone(const netlib_retry_budget *budget);
void netlib_retry_budget_free(netlib_retry_budget *budget);
netlib_status netlib_retry_budget_ask(const netlib_retry_budget *budget, const char *key, size_t len,
                                      enum netlib_budget_kind kind, uint64_t *lease, netlib_error **err);
void netlib_retry_budget_report(const netlib_retry_budget *budget, uint64_t lease, enum netlib_report outcome);
double netlib_retry_budget_left(const netlib_retry_budget *budget, const char *key, size_t len);
void netlib_retry_options_set_budget(netlib_retry_options *options, const netlib_retry_budget *budget,
                                     const char *key);
const netlib_retry_budget *netlib_retry_attached_budget(const netlib_retry *retry);
const char *netlib_retry_attached_budget_key(const netlib_retry *retry, size_t *len);
const netlib_error *netlib_decision_denied(const netlib_decision *decision);
const char *netlib_error_budget_key(const netlib_error *error, size_t *len);
double netlib_error_budget_left(const netlib_error *error);
netlib_breaker_options *netlib_breaker_options_new(void);
netlib_breaker_options *netlib_breaker_options_clone(const netlib_breaker_options *options);
netlib_status netlib_breaker_options_check(const netlib_breaker_options *options, netlib_error **err);
void netlib_breaker_options_free(netlib_breaker_options *options);
void netlib_breaker_options_set_ratio(netlib_breaker_options *options, double ratio, int32_t minimum, double window,
                                      double open_time, int32_t probes);
void netlib_breaker_options_set_consecutive(netlib_breaker_options *options, int32_t failures, double open_time,
                                            double open_time_max, double max_open_percent);
void netlib_breaker_options_set_adaptive(netlib_breaker_options *options, double multiplier, int32_t minimum,
                                         double window, double max_probability);
void netlib_breaker_options_set_permit_time(netlib_breaker_options *options, double seconds);
void netlib_breaker_options_set_max_keys(netlib_breaker_options *options, int32_t max_keys);
void netlib_breaker_options_set_clock(netlib_breaker_options *options, netlib_clock_fn clock, void *ctx,
                                      netlib_ctx_free_fn ctx_free);
void netlib_breaker_options_set_random(netlib_breaker_options *options, netlib_random_fn random, void *ctx,
                                       netlib_ctx_free_fn ctx_free);
netlib_status netlib_breaker_new(const netlib_breaker_options *options, netlib_breaker **breaker, netlib_error **err);
netlib_breaker *netlib_breaker_clone(const netlib_breaker *breaker);
void netlib_breaker_free(netlib_breaker *breaker);
netlib_status netlib_breaker_ask(const netlib_breaker *breaker, const char *key, size_t len, uint64_t *permit,
                                 double *seconds, netlib_error **err);
void netlib_breaker_report(const netlib_breaker *breaker, uint64_t permit, enum netlib_report outcome);
netlib_status netlib_breaker_state(const netlib_breaker *breaker, const char *key, size_t len,
                                   enum netlib_circuit_state *state, netlib_error **err);
double netlib_error_breaker_seconds(const netlib_error *error);
netlib_hedge_options *netlib_hedge_options_new(void);
netlib_hedge_options *netlib_hedge_options_clone(const netlib_hedge_options *options);
netlib_status netlib_hedge_options_check(const netlib_hedge_options *options, netlib_error **err);
void netlib_hedge_options_free(netlib_hedge_options *options);
void netlib_hedge_options_set_delay(netlib_hedge_options *options, double seconds);
void netlib_hedge_options_set_percentile(netlib_hedge_options *options, double percentile, int32_t minimum_samples);
void netlib_hedge_options_set_max_attempts(netlib_hedge_options *options, int32_t max_attempts);
void netlib_hedge_options_set_allowed_methods(netlib_hedge_options *options, const char *const *methods,
                                              size_t count);
void netlib_hedge_options_set_budget(netlib_hedge_options *options, const netlib_retry_budget *budget);
void netlib_hedge_options_set_max_keys(netlib_hedge_options *options, int32_t max_keys);
netlib_status netlib_hedge_new(const netlib_hedge_options *options, netlib_hedge **hedge, netlib_error **err);
netlib_hedge *netlib_hedge_clone(const netlib_hedge *hedge);
void netlib_hedge_free(netlib_hedge *hedge);
double netlib_hedge_delay(const netlib_hedge *hedge, const char *key, size_t len);
netlib_status netlib_hedge_start(const netlib_hedge *hedge, const char *key, size_t len, const char *method,
                                 netlib_hedge_plan **plan, netlib_error **err);
void netlib_hedge_plan_free(netlib_hedge_plan *plan);
double netlib_hedge_plan_timer(const netlib_hedge_plan *plan);
int32_t netlib_hedge_plan_attempts(const netlib_hedge_plan *plan);
const netlib_error *netlib_hedge_plan_denied(const netlib_hedge_plan *plan);
netlib_status netlib_hedge_plan_step(netlib_hedge_plan *plan, enum netlib_hedge_event event, int32_t attempt,
                                     double seconds, enum netlib_hedge_action *action, netlib_error **err);
netlib_status netlib_hedge_plan_pushback(netlib_hedge_plan *plan, int32_t attempt, double wait, double seconds,
                                         enum netlib_hedge_action *action, netlib_error **err);
netlib_rate_options *netlib_rate_options_new(void);
netlib_rate_options *netlib_rate_options_clone(const netlib_rate_options *options);
netlib_status netlib_rate_options_check(const netlib_rate_options *options, netlib_error **err);
void netlib_rate_options_free(netlib_rate_options *options);
void netlib_rate_options_set_limit(netlib_rate_options *options, double per_second, double burst);
void netlib_rate_options_set_adaptive(netlib_rate_options *options);
void netlib_rate_options_set_max_keys(netlib_rate_options *options, int32_t max_keys);
void netlib_rate_options_set_store(netlib_rate_options *options, const netlib_store *store,
                                   enum netlib_unavailable unavailable);
void netlib_rate_options_set_clock(netlib_rate_options *options, netlib_clock_fn clock, void *ctx,
                                   netlib_ctx_free_fn ctx_free);
netlib_status netlib_rate_new(const netlib_rate_options *options, netlib_rate **rate, netlib_error **err);
netlib_rate *netlib_rate_clone(const netlib_rate *rate);
void netlib_rate_free(netlib_rate *rate);
netlib_status netlib_rate_take(const netlib_rate *rate, const char *key, size_t len, double n, double *wait,
                               netlib_error **err);
netlib_status netlib_rate_report(const netlib_rate *rate, const char *key, size_t len, enum netlib_report outcome,
                                 netlib_error **err);
netlib_status netlib_headers_new(const netlib_header_field *fields, size_t count, netlib_headers **headers,
                                 netlib_error **err);
netlib_headers_options *netlib_headers_options_new(void);
netlib_headers_options *netlib_headers_options_clone(const netlib_headers_options *options);
netlib_status netlib_headers_options_check(const netlib_headers_options *options, netlib_error **err);
void netlib_headers_options_free(netlib_headers_options *options);
void netlib_headers_options_set_keep_alive(netlib_headers_options *options, int32_t keep_alive);
void netlib_headers_options_set_accept_encoding(netlib_headers_options *options, const char *value);
void netlib_headers_options_enable_accept_encoding(netlib_headers_options *options, int32_t enable);
void netlib_headers_options_add_accept_encoding(netlib_headers_options *options, const char *coding);
void netlib_headers_options_add_supported_coding(netlib_headers_options *options, const char *coding);
void netlib_headers_options_set_user_agent(netlib_headers_options *options, const char *user_agent);
void netlib_headers_options_set_basic_auth(netlib_headers_options *options, const char *credentials);
void netlib_headers_options_set_proxy_basic_auth(netlib_headers_options *options, const char *credentials);
void netlib_headers_options_set_disable_cache(netlib_headers_options *options, int32_t disable_cache);
void netlib_headers_options_add_header(netlib_headers_options *options, const char *name, const char *value);
netlib_status netlib_make_headers(const netlib_headers_options *options, netlib_headers **headers,
                                  netlib_error **err);
netlib_headers_options *netlib_headers_to_options(const netlib_headers *headers);
netlib_status netlib_headers_with(const netlib_headers *headers, const char *name, const char *value,
                                  netlib_headers **changed, netlib_error **err);
netlib_headers *netlib_headers_clone(const netlib_headers *headers);
void netlib_headers_free(netlib_headers *headers);
size_t netlib_headers_count(const netlib_headers *headers);
const char *netlib_headers_name(const netlib_headers *headers, size_t index, size_t *len);
const char *netlib_headers_value(const netlib_headers *headers, size_t index, size_t *len);
const char *netlib_headers_get(const netlib_headers *headers, const char *name, size_t *len);
size_t netlib_headers_get_count(const netlib_headers *headers, const char *name);
const char *netlib_headers_get_at(const netlib_headers *headers, const char *name, size_t n, size_t *len);
const char *netlib_headers_to_wire(const netlib_headers *headers, size_t *len);
netlib_status netlib_request_new(const char *method, const netlib_url *url, const netlib_headers *headers,
                                 enum netlib_request_form form, netlib_request **request, netlib_error **err);
netlib_request *netlib_request_clone(const netlib_request *request);
void netlib_request_free(netlib_request *request);
const char *netlib_request_to_wire(const netlib_request *request, size_t *len);
netlib_status netlib_attempts_new(const netlib_retry *retry, const char *method, const netlib_url *url,
                                  const netlib_headers *headers, int32_t has_body, const netlib_limit *limit,
                                  netlib_attempts **attempts, netlib_error **err);
void netlib_attempts_free(netlib_attempts *attempts);
const char *netlib_attempts_method(const netlib_attempts *attempts, size_t *len);
const netlib_url *netlib_attempts_url(const netlib_attempts *attempts);
const netlib_headers *netlib_attempts_headers(const netlib_attempts *attempts);
int32_t netlib_attempts_sends_body(const netlib_attempts *attempts);
const netlib_limit *netlib_attempts_limit(const netlib_attempts *attempts);
netlib_status netlib_attempts_request(const netlib_attempts *attempts, enum netlib_request_form form,
                                      netlib_request **request, netlib_error **err);
netlib_status netlib_attempts_set_header(netlib_attempts *attempts, const char *name, const char *value,
                                         netlib_error **err);
void netlib_attempts_reset_failures(netlib_attempts *attempts);
const netlib_decision *netlib_attempts_decision(const netlib_attempts *attempts);
netlib_status netlib_attempts_next(netlib_attempts *attempts, const netlib_response *response,
                                   const netlib_error *error, netlib_error **err);
netlib_status netlib_attempts_decide(netlib_attempts *attempts, const netlib_response *response,
                                     const netlib_error *error, netlib_error **err);
netlib_status netlib_response_new(const char *request_method, int32_t status, const netlib_headers *headers,
                                  netlib_response **response, netlib_error **err);
netlib_status netlib_response_parse(const char *request_method, const char *head, size_t len, uint64_t *state,
                                    netlib_response **response, size_t *head_len, netlib_error **err);
netlib_status netlib_response_parse_final(const char *request_method, const char *head, size_t len, uint64_t *state,
                                          netlib_response **response, size_t *head_len, netlib_error **err);
netlib_response *netlib_response_clone(const netlib_response *response);
void netlib_response_free(netlib_response *response);
int32_t netlib_response_status(const netlib_response *response);
const netlib_headers *netlib_response_headers(const netlib_response *response);
const char *netlib_response_request_method(const netlib_response *response, size_t *len);
const char *netlib_response_reason(const netlib_response *response, size_t *len);
int32_t netlib_response_minor_version(const netlib_response *response);
const char *netlib_response_redirect_location(const netlib_response *response, size_t *len);
netlib_status netlib_response_framing(const netlib_response *response, enum netlib_body_framing *framing,
                                      int64_t *length, netlib_error **err);
netlib_status netlib_response_check_tunnel(const netlib_response *response, netlib_error **err);
int32_t netlib_is_response_to_head(const netlib_response *response);
netlib_status netlib_body_decoder_new(const netlib_response *response, netlib_body_decoder **decoder,
                                      netlib_error **err);
void netlib_body_decoder_free(netlib_body_decoder *decoder);
netlib_status netlib_body_decoder_set_limits(netlib_body_decoder *decoder, size_t max_size_line, size_t max_trailer,
                                             size_t max_trailer_fields, netlib_error **err);
netlib_status netlib_body_decoder_set_max_size(netlib_body_decoder *decoder, int64_t max_size, netlib_error **err);
netlib_status netlib_body_decoder_set_allow_bare_lf(netlib_body_decoder *decoder, int32_t allow, netlib_error **err);
netlib_status netlib_body_decoder_decode(netlib_body_decoder *decoder, const void *data, size_t len, size_t *consumed,
                                         const uint8_t **body, size_t *body_len, netlib_error **err);
netlib_status netlib_body_decoder_end(netlib_body_decoder *decoder, netlib_error **err);
int32_t netlib_body_decoder_is_done(const netlib_body_decoder *decoder);
const netlib_headers *netlib_body_decoder_trailers(const netlib_body_decoder *decoder);
int64_t netlib_body_decoder_bytes_decoded(const netlib_body_decoder *decoder);
int64_t netlib_body_decoder_bytes_left(const netlib_body_decoder *decoder);
int32_t netlib_response_keeps_alive(const netlib_response *response, const netlib_body_decoder *decoder);
netlib_status netlib_response_content_range(const netlib_response *response, int64_t *first, int64_t *last,
                                            int64_t *total, netlib_error **err);
const char *netlib_response_range_validator(const netlib_response *response, size_t *len);
int32_t netlib_response_resumes(const netlib_response *response, const netlib_response *earlier, int64_t offset);
netlib_status netlib_body_from_memory(const void *data, size_t len, netlib_body **body, netlib_error **err);
netlib_status netlib_body_from_fd(int fd, netlib_body **body, netlib_error **err);
netlib_status netlib_body_new(netlib_body_read_fn read, netlib_body_tell_fn tell, netlib_body_seek_fn seek,
                              netlib_body_is_closed_fn is_closed, void *ctx, netlib_ctx_free_fn ctx_free,
                              netlib_body **body, netlib_error **err);
void netlib_body_free(netlib_body *body);
void netlib_body_set_limit(netlib_body *body, const netlib_limit *limit);
netlib_status netlib_body_read(netlib_body *body, void *buf, size_t len, size_t *n, netlib_error **err);
netlib_status netlib_body_length(netlib_body *body, int64_t *length, netlib_error **err);
netlib_status netlib_set_file_position(netlib_body *body, int64_t pos, int64_t *out_pos, netlib_error **err);
netlib_status netlib_rewind_body(netlib_body *body, int64_t pos, netlib_error **err);
netlib_status netlib_chunk_encode(void *buf, size_t size, size_t data_len, const uint8_t **chunk, size_t *chunk_len,
                                  netlib_error **err);
netlib_status netlib_chunk_encode_last(const netlib_headers *trailers, void *buf, size_t size, size_t *len,
                                       netlib_error **err);
netlib_status netlib_create_connection(const char *host, int32_t port, const netlib_connect_options *options,
                                       const netlib_limit *limit, int *fd, netlib_error **err);
netlib_connect_options *netlib_connect_options_new(void);
netlib_connect_options *netlib_connect_options_clone(const netlib_connect_options *options);
netlib_status netlib_connect_options_check(const netlib_connect_options *options, netlib_error **err);
void netlib_connect_options_free(netlib_connect_options *options);
void netlib_connect_options_set_timeout(netlib_connect_options *options, double timeout);
void netlib_connect_options_use_timeout(netlib_connect_options *options, const netlib_timeout *timeout);
void netlib_connect_options_set_address_family(netlib_connect_options *options, enum netlib_address_family family);
void netlib_connect_options_set_source_address(netlib_connect_options *options, const char *host, int32_t port);
void netlib_connect_options_set_interface(netlib_connect_options *options, const char *name);
void netlib_connect_options_set_no_delay(netlib_connect_options *options, int32_t enable);
void netlib_connect_options_set_keepalive(netlib_connect_options *options, double idle, double interval,
                                          int32_t count);
void netlib_connect_options_set_user_timeout(netlib_connect_options *options, double seconds);
void netlib_connect_options_add_socket_option(netlib_connect_options *options, int32_t level, int32_t name,
                                              const void *value, size_t len);
void netlib_connect_options_refuse_addresses(netlib_connect_options *options, int32_t classes);
void netlib_connect_options_set_address_callback(netlib_connect_options *options, netlib_address_fn callback,
                                                 void *ctx, netlib_ctx_free_fn ctx_free);
netlib_status netlib_classify_address(const void *address, size_t len, int32_t *classes, netlib_error **err);
netlib_status netlib_classify_address_text(const char *text, int32_t *classes, netlib_error **err);
const char *netlib_address_class_name(int32_t classes);
netlib_addresses *netlib_addresses_new(void);
void netlib_addresses_free(netlib_addresses *addresses);
netlib_status netlib_addresses_add(netlib_addresses *addresses, const void *address, size_t len, netlib_error **err);
size_t netlib_addresses_count(const netlib_addresses *addresses);
void netlib_connect_options_set_resolve_callback(netlib_connect_options *options, netlib_resolve_fn resolve,
                                                 void *ctx, netlib_ctx_free_fn ctx_free);
void netlib_connect_options_set_attempt_delay(netlib_connect_options *options, double seconds);
void netlib_connect_options_set_supply_addresses(netlib_connect_options *options, int32_t enable);
netlib_status netlib_connect_new(const char *host, int32_t port, const netlib_connect_options *options,
                                 netlib_connect **connect, netlib_error **err);
netlib_status netlib_connect_new_addresses(const char *host, int32_t port, const netlib_addresses *addresses,
                                           const netlib_connect_options *options, netlib_connect **connect,
                                           netlib_error **err);
void netlib_connect_free(netlib_connect *connect);
netlib_status netlib_connect_set_limit(netlib_connect *connect, const netlib_limit *limit, netlib_error **err);
netlib_status netlib_connect_step(netlib_connect *connect, int *fd, netlib_error **err);
netlib_status netlib_connect_supply_addresses(netlib_connect *connect, const netlib_addresses *addresses,
                                              netlib_error **err);
netlib_status netlib_connect_supply_error(netlib_connect *connect, const netlib_error *error, netlib_error **err);
netlib_status netlib_connect_run(netlib_connect *connect, const netlib_limit *limit, int *fd, netlib_error **err);
size_t netlib_connect_wait_count(const netlib_connect *connect);
int netlib_connect_wait_fd(const netlib_connect *connect, size_t index);
int32_t netlib_connect_wait_events(const netlib_connect *connect, size_t index);
double netlib_connect_wait_seconds(const netlib_connect *connect);
size_t netlib_connect_attempt_count(const netlib_connect *connect);
int32_t netlib_connect_winner(const netlib_connect *connect);
const char *netlib_connect_attempt_address(const netlib_connect *connect, size_t index, size_t *len);
int32_t netlib_connect_attempt_port(const netlib_connect *connect, size_t index);
double netlib_connect_attempt_start(const netlib_connect *connect, size_t index);
double netlib_connect_attempt_end(const netlib_connect *connect, size_t index);
netlib_status netlib_connect_attempt_status(const netlib_connect *connect, size_t index);
int32_t netlib_connect_attempt_errno(const netlib_connect *connect, size_t index);
netlib_status netlib_create_unix_connection(const char *path, size_t len, const netlib_connect_options *options,
                                            const netlib_limit *limit, int *fd, netlib_error **err);
netlib_status netlib_connect_new_unix(const char *path, size_t len, const netlib_connect_options *options,
                                      netlib_connect **connect, netlib_error **err);
netlib_status netlib_wait(int fd, int32_t events, double timeout, const netlib_limit *limit, int32_t *ready,
                          netlib_error **err);
netlib_status netlib_wait_for_read(int fd, double timeout, const netlib_limit *limit, netlib_error **err);
netlib_status netlib_wait_for_write(int fd, double timeout, const netlib_limit *limit, netlib_error **err);
netlib_status netlib_is_connection_dropped(int fd, int32_t *dropped, netlib_error **err);
netlib_status netlib_throughput_new(size_t bytes, double seconds, netlib_throughput **throughput, netlib_error **err);
void netlib_throughput_free(netlib_throughput *throughput);
netlib_status netlib_throughput_wait_for_read(netlib_throughput *throughput, int fd, double timeout,
                                              const netlib_limit *limit, netlib_error **err);
void netlib_throughput_add(netlib_throughput *throughput, size_t bytes);
netlib_status netlib_stream_new_fd(int fd, netlib_stream **stream, netlib_error **err);
netlib_status netlib_stream_new_callbacks(netlib_stream_read_fn read_fn, netlib_stream_write_fn write_fn, void *ctx,
                                          netlib_ctx_free_fn ctx_free, netlib_stream **stream, netlib_error **err);
void netlib_stream_free(netlib_stream *stream);
void netlib_stream_set_limit(netlib_stream *stream, const netlib_limit *limit);
netlib_status netlib_stream_set_read_timeout(netlib_stream *stream, double seconds, netlib_error **err);
netlib_status netlib_stream_use_timeout(netlib_stream *stream, const netlib_timeout *timeout, netlib_error **err);
netlib_status netlib_stream_set_write_timeout(netlib_stream *stream, double seconds, netlib_error **err);
netlib_status netlib_stream_set_minimum_throughput(netlib_stream *stream, size_t bytes, double seconds,
                                                   netlib_error **err);
netlib_status netlib_stream_set_blocking(netlib_stream *stream, int32_t blocking, netlib_error **err);
netlib_status netlib_stream_read(netlib_stream *stream, void *buf, size_t len, size_t *n, netlib_error **err);
size_t netlib_stream_pending(const netlib_stream *stream);
netlib_status netlib_stream_is_dropped(netlib_stream *stream, int32_t *dropped, netlib_status *why,
                                       netlib_error **err);
netlib_status netlib_stream_write(netlib_stream *stream, const void *buf, size_t len, size_t *n, netlib_error **err);
netlib_status netlib_stream_writev(netlib_stream *stream, const netlib_slice *slices, size_t count, size_t *n,
                                   netlib_error **err);
netlib_status netlib_stream_shutdown(netlib_stream *stream, netlib_error **err);
netlib_status netlib_stream_shutdown_both(netlib_stream *stream, netlib_error **err);
netlib_status netlib_stream_connect(const netlib_url *url, const netlib_tls_context *context,
                                    const netlib_connect_options *options, const netlib_limit *limit,
                                    netlib_stream **stream, netlib_error **err);
int netlib_stream_fd(const netlib_stream *stream);
netlib_status netlib_stream_read_response(netlib_stream *stream, const char *request_method,
                                          netlib_response **response, netlib_error **err);
netlib_status netlib_stream_read_next_response(netlib_stream *stream, const char *request_method,
                                               netlib_response **response, netlib_error **err);
netlib_status netlib_stream_read_body(netlib_stream *stream, netlib_body_decoder *decoder, void *buf, size_t len,
                                      size_t *n, netlib_error **err);
netlib_status netlib_stream_read_whole_body(netlib_stream *stream, netlib_body_decoder *decoder, size_t max_size,
                                            netlib_bytes **body, netlib_error **err);
netlib_status netlib_stream_discard_body(netlib_stream *stream, netlib_body_decoder *decoder, size_t max_size,
                                         double seconds, netlib_error **err);
netlib_tls_options *netlib_tls_options_new(void);
netlib_tls_options *netlib_tls_options_clone(const netlib_tls_options *options);
netlib_status netlib_tls_options_check(const netlib_tls_options *options, netlib_error **err);
void netlib_tls_options_free(netlib_tls_options *options);
netlib_status netlib_tls_context_new(const netlib_tls_options *options, netlib_tls_context **context,
                                     netlib_error **err);
netlib_tls_context *netlib_tls_context_clone(const netlib_tls_context *context);
void netlib_tls_context_free(netlib_tls_context *context);
void netlib_tls_options_add_ca_file(netlib_tls_options *options, const char *path);
void netlib_tls_options_add_ca_dir(netlib_tls_options *options, const char *path);
void netlib_tls_options_add_ca_data(netlib_tls_options *options, const void *data, size_t len);
void netlib_tls_options_set_system_trust(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_server_only(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_keep_trust_anchors(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_embedded_trust(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_identity_files(netlib_tls_options *options, const char *chain_path, const char *key_path);
void netlib_tls_options_set_identity(netlib_tls_options *options, const void *chain, size_t chain_len,
                                     const void *key, size_t key_len);
void netlib_tls_options_set_key_password(netlib_tls_options *options, const void *password, size_t len);
void netlib_tls_options_set_verify_mode(netlib_tls_options *options, enum netlib_verify_mode mode);
void netlib_tls_options_set_check_hostname(netlib_tls_options *options, int32_t on);
void netlib_tls_options_add_pin(netlib_tls_options *options, const char *pin);
void netlib_tls_options_set_pins_replace_chain(netlib_tls_options *options, int32_t on);
void netlib_tls_options_add_crl_file(netlib_tls_options *options, const char *path);
void netlib_tls_options_add_crl_data(netlib_tls_options *options, const void *data, size_t len);
void netlib_tls_options_set_verify_flags(netlib_tls_options *options, int32_t flags);
void netlib_tls_options_set_wall_clock(netlib_tls_options *options, netlib_wall_clock_fn clock, void *ctx,
                                       netlib_ctx_free_fn ctx_free);
void netlib_tls_options_set_minimum_version(netlib_tls_options *options, enum netlib_tls_version version);
void netlib_tls_options_set_maximum_version(netlib_tls_options *options, enum netlib_tls_version version);
void netlib_tls_options_add_alpn_protocol(netlib_tls_options *options, const char *protocol);
void netlib_tls_options_set_resumption(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_session_tickets(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_keylog_file(netlib_tls_options *options, const char *path);
void netlib_tls_options_set_use_environment(netlib_tls_options *options, int32_t on);
void netlib_tls_options_set_ciphers(netlib_tls_options *options, const char *ciphers);
void netlib_tls_options_set_key_exchange_groups(netlib_tls_options *options, const char *groups);
void netlib_tls_options_set_servername_callback(netlib_tls_options *options, netlib_tls_servername_fn callback,
                                                void *ctx, netlib_ctx_free_fn ctx_free);
netlib_status netlib_tls_wrap_fd(const netlib_tls_context *context, int fd, const char *server_hostname,
                                 netlib_stream **stream, netlib_error **err);
netlib_status netlib_tls_accept_fd(const netlib_tls_context *context, int fd, netlib_stream **stream,
                                   netlib_error **err);
netlib_status netlib_stream_handshake(netlib_stream *stream, netlib_error **err);
size_t netlib_stream_peer_certificate_count(const netlib_stream *stream);
const uint8_t *netlib_stream_peer_certificate(const netlib_stream *stream, size_t index, size_t *len);
const char *netlib_stream_alpn_protocol(const netlib_stream *stream, size_t *len);
const char *netlib_stream_server_name(const netlib_stream *stream, size_t *len);
enum netlib_tls_version netlib_stream_tls_version(const netlib_stream *stream);
const char *netlib_stream_cipher_suite(const netlib_stream *stream, size_t *len);
int32_t netlib_stream_cipher_suite_bits(const netlib_stream *stream);
const char *netlib_stream_key_exchange_group(const netlib_stream *stream, size_t *len);
int32_t netlib_stream_is_resumed(const netlib_stream *stream);
netlib_status netlib_tls_wrap_stream(const netlib_tls_context *context, netlib_stream *outer,
                                     const char *server_hostname, netlib_stream **stream, netlib_error **err);
netlib_status netlib_tls_accept_stream(const netlib_tls_context *context, netlib_stream *outer,
                                       netlib_stream **stream, netlib_error **err);
netlib_status netlib_tls_wrap_callbacks(const netlib_tls_context *context, const char *server_hostname,
                                        netlib_stream_read_fn read_fn, netlib_stream_write_fn write_fn, void *ctx,
                                        netlib_ctx_free_fn ctx_free, netlib_stream **stream, netlib_error **err);
netlib_status netlib_tls_accept_callbacks(const netlib_tls_context *context, netlib_stream_read_fn read_fn,
                                          netlib_stream_write_fn write_fn, void *ctx, netlib_ctx_free_fn ctx_free,
                                          netlib_stream **stream, netlib_error **err);
netlib_status netlib_tls_engine_new_client(const netlib_tls_context *context, const char *server_hostname,
                                           netlib_tls_engine **engine, netlib_error **err);
netlib_status netlib_tls_engine_new_server(const netlib_tls_context *context, netlib_tls_engine **engine,
                                           netlib_error **err);
void netlib_tls_engine_free(netlib_tls_engine *engine);
netlib_status netlib_tls_engine_feed(netlib_tls_engine *engine, const void *data, size_t len, size_t *n,
                                     netlib_error **err);
void netlib_tls_engine_feed_eof(netlib_tls_engine *engine);
netlib_status netlib_tls_engine_drain(netlib_tls_engine *engine, void *buf, size_t len, size_t *n,
                                      netlib_error **err);
size_t netlib_tls_engine_output_pending(const netlib_tls_engine *engine);
netlib_status netlib_tls_engine_handshake(netlib_tls_engine *engine, netlib_error **err);
netlib_status netlib_tls_engine_read(netlib_tls_engine *engine, void *buf, size_t len, size_t *n, netlib_error **err);
size_t netlib_tls_engine_pending(netlib_tls_engine *engine);
netlib_status netlib_tls_engine_write(netlib_tls_engine *engine, const void *buf, size_t len, size_t *n,
                                      netlib_error **err);
netlib_status netlib_tls_engine_shutdown(netlib_tls_engine *engine, netlib_error **err);
size_t netlib_tls_engine_peer_certificate_count(const netlib_tls_engine *engine);
const uint8_t *netlib_tls_engine_peer_certificate(const netlib_tls_engine *engine, size_t index, size_t *len);
const char *netlib_tls_engine_alpn_protocol(const netlib_tls_engine *engine, size_t *len);
const char *netlib_tls_engine_server_name(const netlib_tls_engine *engine, size_t *len);
enum netlib_tls_version netlib_tls_engine_version(const netlib_tls_engine *engine);
const char *netlib_tls_engine_cipher_suite(const netlib_tls_engine *engine, size_t *len);
int32_t netlib_tls_engine_cipher_suite_bits(const netlib_tls_engine *engine);
const char *netlib_tls_engine_key_exchange_group(const netlib_tls_engine *engine, size_t *len);
int32_t netlib_tls_engine_is_resumed(const netlib_tls_engine *engine);
netlib_tls_session *netlib_tls_session_clone(const netlib_tls_session *session);
void netlib_tls_session_free(netlib_tls_session *session);
const char *netlib_tls_session_server_name(const netlib_tls_session *session, size_t *len);
enum netlib_tls_version netlib_tls_session_version(const netlib_tls_session *session);
int64_t netlib_tls_session_time(const netlib_tls_session *session);
int32_t netlib_tls_session_is_resumable(const netlib_tls_session *session);
netlib_status netlib_stream_take_session(netlib_stream *stream, netlib_tls_session **session, netlib_error **err);
netlib_status netlib_stream_set_session(netlib_stream *stream, const netlib_tls_session *session, netlib_error **err);
netlib_status netlib_tls_engine_take_session(netlib_tls_engine *engine, netlib_tls_session **session,
                                             netlib_error **err);
netlib_status netlib_tls_engine_set_session(netlib_tls_engine *engine, const netlib_tls_session *session,
                                            netlib_error **err);
size_t netlib_tls_context_session_count(const netlib_tls_context *context);
void netlib_tls_context_forget_sessions(const netlib_tls_context *context);
void netlib_tls_options_set_early_data(netlib_tls_options *options, int32_t on);
int32_t netlib_tls_context_early_data(const netlib_tls_context *context);
netlib_status netlib_stream_write_early_data(netlib_stream *stream, const void *buf, size_t len, size_t *n,
                                             netlib_error **err);
enum netlib_early_data_status netlib_stream_early_data_status(const netlib_stream *stream);
size_t netlib_stream_early_data_left(const netlib_stream *stream);
size_t netlib_stream_early_data_written(const netlib_stream *stream);
netlib_status netlib_tls_engine_write_early_data(netlib_tls_engine *engine, const void *buf, size_t len, size_t *n,
                                                 netlib_error **err);
enum netlib_early_data_status netlib_tls_engine_early_data_status(const netlib_tls_engine *engine);
size_t netlib_tls_engine_early_data_left(const netlib_tls_engine *engine);
size_t netlib_tls_engine_early_data_written(const netlib_tls_engine *engine);
void netlib_tls_options_set_ech_config_list(netlib_tls_options *options, const void *config_list, size_t len);
void netlib_tls_options_set_ech_grease(netlib_tls_options *options, int32_t on);
netlib_status netlib_tls_context_with_ech(const netlib_tls_context *context, const void *config_list, size_t len,
                                          netlib_tls_context **with_ech, netlib_error **err);
const uint8_t *netlib_tls_context_ech_config_list(const netlib_tls_context *context, size_t *len);
const char *netlib_tls_context_ech_public_name(const netlib_tls_context *context, size_t *len);
int32_t netlib_tls_context_ech_grease(const netlib_tls_context *context);
enum netlib_ech_status netlib_stream_ech_status(const netlib_stream *stream);
enum netlib_ech_status netlib_tls_engine_ech_status(const netlib_tls_engine *engine);
const uint8_t *netlib_error_ech_retry_configs(const netlib_error *error, size_t *len);
netlib_status netlib_certificate_parse(const void *data, size_t len, netlib_certificate **certificate,
                                       netlib_error **err);
netlib_certificate *netlib_certificate_clone(const netlib_certificate *certificate);
void netlib_certificate_free(netlib_certificate *certificate);
const char *netlib_certificate_subject(const netlib_certificate *certificate, size_t *len);
const char *netlib_certificate_issuer(const netlib_certificate *certificate, size_t *len);
size_t netlib_certificate_attribute_count(const netlib_certificate *certificate, enum netlib_distinguished_name name);
const char *netlib_certificate_attribute_oid(const netlib_certificate *certificate,
                                             enum netlib_distinguished_name name, size_t index, size_t *len);
const char *netlib_certificate_attribute_short_name(const netlib_certificate *certificate,
                                                    enum netlib_distinguished_name name, size_t index, size_t *len);
const char *netlib_certificate_attribute_value(const netlib_certificate *certificate,
                                               enum netlib_distinguished_name name, size_t index, size_t *len);
int32_t netlib_certificate_attribute_rdn(const netlib_certificate *certificate, enum netlib_distinguished_name name,
                                         size_t index);
const char *netlib_certificate_serial(const netlib_certificate *certificate, size_t *len);
int32_t netlib_certificate_version(const netlib_certificate *certificate);
double netlib_certificate_not_before(const netlib_certificate *certificate);
double netlib_certificate_not_after(const netlib_certificate *certificate);
const char *netlib_certificate_not_before_text(const netlib_certificate *certificate, size_t *len);
const char *netlib_certificate_not_after_text(const netlib_certificate *certificate, size_t *len);
size_t netlib_certificate_name_count(const netlib_certificate *certificate);
const char *netlib_certificate_name(const netlib_certificate *certificate, size_t index, size_t *len);
enum netlib_certificate_name_kind netlib_certificate_name_kind(const netlib_certificate *certificate, size_t index);
const char *netlib_certificate_public_key_algorithm(const netlib_certificate *certificate, size_t *len);
const char *netlib_certificate_public_key_curve(const netlib_certificate *certificate, size_t *len);
size_t netlib_certificate_public_key_bits(const netlib_certificate *certificate);
const char *netlib_certificate_signature_algorithm(const netlib_certificate *certificate, size_t *len);
int32_t netlib_certificate_is_ca(const netlib_certificate *certificate);
int32_t netlib_certificate_is_self_issued(const netlib_certificate *certificate);
const uint8_t *netlib_certificate_der(const netlib_certificate *certificate, size_t *len);
const char *netlib_certificate_fingerprint(const netlib_certificate *certificate, size_t *len);
const char *netlib_certificate_public_key_pin(const netlib_certificate *certificate, size_t *len);
netlib_status netlib_tls_context_verify_chain(const netlib_tls_context *context, const void *chain, size_t len,
                                              enum netlib_purpose purpose, const char *name, const double *time,
                                              netlib_error **err);
netlib_tls_options *netlib_tls_context_to_options(const netlib_tls_context *context);
size_t netlib_tls_context_trust_anchor_count(const netlib_tls_context *context);
const uint8_t *netlib_tls_context_trust_anchor(const netlib_tls_context *context, size_t index, size_t *len);
int32_t netlib_tls_context_trust_kinds(const netlib_tls_context *context);
size_t netlib_tls_context_trust_source_count(const netlib_tls_context *context);
enum netlib_trust_kind netlib_tls_context_trust_source_kind(const netlib_tls_context *context, size_t index);
const char *netlib_tls_context_trust_source_name(const netlib_tls_context *context, size_t index, size_t *len);
size_t netlib_tls_context_trust_source_anchor_count(const netlib_tls_context *context, size_t index);
size_t netlib_tls_context_trust_source_skipped_count(const netlib_tls_context *context, size_t index);
const char *netlib_tls_context_trust_source_skipped(const netlib_tls_context *context, size_t index, size_t skipped,
                                                    size_t *len);
enum netlib_verify_mode netlib_tls_context_verify_mode(const netlib_tls_context *context);
int32_t netlib_tls_context_check_hostname(const netlib_tls_context *context);
size_t netlib_tls_context_pin_count(const netlib_tls_context *context);
int32_t netlib_tls_context_pins_replace_chain(const netlib_tls_context *context);
int32_t netlib_tls_context_verify_flags(const netlib_tls_context *context);
enum netlib_tls_version netlib_tls_context_minimum_version(const netlib_tls_context *context);
enum netlib_tls_version netlib_tls_context_maximum_version(const netlib_tls_context *context);
size_t netlib_tls_context_alpn_protocol_count(const netlib_tls_context *context);
const char *netlib_tls_context_alpn_protocol(const netlib_tls_context *context, size_t index, size_t *len);
size_t netlib_tls_context_cipher_suite_count(const netlib_tls_context *context);
const char *netlib_tls_context_cipher_suite(const netlib_tls_context *context, size_t index, size_t *len);
const char *netlib_tls_context_unknown_ciphers(const netlib_tls_context *context, size_t *len);
size_t netlib_tls_context_key_exchange_group_count(const netlib_tls_context *context);
const char *netlib_tls_context_key_exchange_group(const netlib_tls_context *context, size_t index, size_t *len);
int32_t netlib_tls_context_resumption(const netlib_tls_context *context);
const char *netlib_tls_context_keylog_file(const netlib_tls_context *context, size_t *len);
netlib_status netlib_connection_key(const netlib_url *url, const netlib_url *proxy, const netlib_tls_context *context,
                                    const netlib_connect_options *connect_options, const netlib_slice *slices,
                                    size_t count, char *key, size_t size, netlib_error **err);
const char *netlib_tls_context_digest(const netlib_tls_context *context, size_t *len);
netlib_status netlib_retry_from_int(int32_t count, int32_t redirect, const netlib_retry *default_retry,
                                    netlib_retry **retry, netlib_error **err);
const netlib_retry *netlib_retry_resolve(const netlib_retry *per_request, const netlib_retry *pool_default);
netlib_status netlib_timeout_from_float(double timeout, netlib_timeout **out, netlib_error **err);
netlib_status netlib_assert_header_parsing(const char *block, size_t len, netlib_error **err);
netlib_status netlib_is_fp_closed(netlib_body *body, int32_t *closed, netlib_error **err);
int32_t netlib_allowed_gai_family(void);
double netlib_current_time(void);
netlib_status netlib_assert_fingerprint(const void *cert, size_t cert_len, const char *fingerprint,
                                        netlib_error **err);
netlib_status netlib_ssl_wrap_socket(int fd, const netlib_tls_options *tls_options, const netlib_tls_context *context,
                                     const char *server_hostname, const netlib_limit *limit, netlib_stream **stream,
                                     netlib_error **err);
netlib_status netlib_resolve_cert_reqs(const char *candidate, int32_t *number, netlib_error **err);
netlib_status netlib_resolve_ssl_version(const char *candidate, int32_t *number, netlib_error **err);
enum netlib_ssl_version netlib_tls_context_protocol(const netlib_tls_context *context);
void netlib_tls_options_set_npn_protocols(netlib_tls_options *options, const char *const *protocols, size_t count);
void netlib_tls_options_set_hostname_checks_common_name(netlib_tls_options *options, int32_t on);
int32_t netlib_tls_context_hostname_checks_common_name(const netlib_tls_context *context);
void netlib_tls_options_set_post_handshake_auth(netlib_tls_options *options, int32_t on);
int32_t netlib_tls_context_post_handshake_auth(const netlib_tls_context *context);
void netlib_tls_options_set_option_bits(netlib_tls_options *options, int64_t bits);
int64_t netlib_tls_context_option_bits(const netlib_tls_context *context);
const char *netlib_tls_context_cipher_suite_openssl_name(const netlib_tls_context *context, size_t index,
                                                         size_t *len);
const char *netlib_stream_cipher_suite_openssl_name(const netlib_stream *stream, size_t *len);
const char *netlib_tls_engine_cipher_suite_openssl_name(const netlib_tls_engine *engine, size_t *len);
void netlib_retry_options_set_method_whitelist(netlib_retry_options *options, const char *const *methods,
                                               size_t count);
const char *const *netlib_retry_default_method_whitelist(size_t *count);
const char *const *netlib_retry_default_redirect_headers_blacklist(size_t *count);
double netlib_backoff_max(void);
const netlib_retry *netlib_retry_default(void);
netlib_status netlib_get_host(const char *url, size_t len, netlib_url **out, netlib_error **err);
netlib_status netlib_split_first(const char *text, size_t len, const char *const *delimiters, size_t count,
                                 size_t *before_end, size_t *after_start, int64_t *delimiter, netlib_error **err);
void netlib_tls_options_set_ssl_version(netlib_tls_options *options, enum netlib_ssl_version version);
