/* The part of test_modes that uses results. */
#define NETLIB_NO_EXCEPTIONS
#include <netlib.hpp>

std::string host_or_status(const char *url);

std::string host_or_status(const char *url) {
    auto parsed = netlib::parse_url(url);
    if (!parsed) return std::string(netlib::status_name(parsed.error().status()));
    return std::string(parsed->host());
}
