/* Two source files of one program: this one uses exceptions, and modes_returning.cpp uses results. */
#include "harness.hpp"

std::string host_or_status(const char *url);

static void both_modes_work_in_one_program() {
    netlib::url url = netlib::parse_url("http://a/");
    EQUAL(url.host(), "a");
    EQUAL(host_or_status("http://a/"), "a");
    FAILS(netlib::parse_url("http://["), netlib::status::invalid_url, "bracket");
    EQUAL(host_or_status("http://["), "NETLIB_INVALID_URL");
}

int main() {
    both_modes_work_in_one_program();
    return finish("test_modes");
}
