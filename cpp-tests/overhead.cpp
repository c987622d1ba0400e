/* Pairs of functions: cpp_X uses netlib.hpp, and c_X calls the C functions. The suite `cpp-variants` compares the
 * instructions that the compiler generates for cpp_X and c_X. The suite compiles with -fno-exceptions, because the
 * compiler does not know that C functions throw nothing. */
#include <netlib.hpp>

extern "C" {

void cpp_text(const netlib::url &url, std::string_view *host) { *host = url.host(); }
void c_text(const netlib::url &url, std::string_view *host) {
    std::size_t len = 0;
    const char *data = netlib_url_host(url.handle(), &len);
    *host = std::string_view(data, len);
}

int cpp_number(const netlib::url &url) { return url.port_or_default(); }
int c_number(const netlib::url &url) { return netlib_url_port_or_default(url.handle()); }

bool cpp_truth_value(const netlib::certificate &certificate) { return certificate.is_ca(); }
bool c_truth_value(const netlib::certificate &certificate) {
    return netlib_certificate_is_ca(certificate.handle()) != 0;
}

void cpp_options(netlib::tls_options &options) {
    options.check_hostname(true).minimum_version(netlib::tls_version::v1_3).add_ca_file("ca.pem");
}
void c_options(netlib::tls_options &options) {
    netlib_tls_options_set_check_hostname(options.handle(), 1);
    netlib_tls_options_set_minimum_version(options.handle(), NETLIB_TLS_VERSION_1_3);
    netlib_tls_options_add_ca_file(options.handle(), "ca.pem");
}

double cpp_seconds(const netlib::limit &limit) { return limit.remaining().count(); }
double c_seconds(const netlib::limit &limit) { return netlib_limit_remaining(limit.handle()); }

/* Makes a handle, uses it and frees it. */
std::size_t cpp_handle() {
    netlib::addresses addresses;
    return addresses.count();
}
std::size_t c_handle() {
    netlib_addresses *addresses = netlib_addresses_new();
    if (addresses == nullptr) netlib::detail::no_memory();
    std::size_t count = netlib_addresses_count(addresses);
    netlib_addresses_free(addresses);
    return count;
}
}
