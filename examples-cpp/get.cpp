/* get.cpp - downloads one URL with the recommended settings, and writes the response's body to standard output:
 *
 *     c++ -std=c++17 get.cpp $(pkg-config --cflags --libs netlib) -o get
 *     ./get https://example.com/
 */
#include <netlib.hpp>

#include <iostream>

using namespace std::chrono_literals;

int main(int argc, char **argv) try {
    if (argc != 2) return std::cerr << "usage: " << argv[0] << " URL\n", 2;
    netlib::limit limit(120s); // bounds all attempts, and the waits between them
    netlib::tls_context tls;
    auto options = netlib::connect_options().timeout(20s);
    auto headers = netlib::make_headers(netlib::headers_options().add_header("connection", "close"));
    netlib::attempts attempts(*netlib::retry::recommended(), "GET", netlib::parse_url_strict(argv[1]), headers, false,
                              limit);
    netlib::status status;
    do {
        try {
            auto stream = *netlib::stream::connect(*attempts.url(), tls, options, limit);
            auto request = attempts.request(netlib::request_form::origin);
            stream.write(request.to_wire());
            auto response = *stream.read_response(attempts.method());
            status = attempts.next(response, {}); // waits before a retry
            if (status != netlib::status::ok) continue;
            char buf[65536];
            netlib::body_decoder decoder(response);
            while (auto n = stream.read_body(decoder, buf)) std::cout.write(buf, static_cast<std::streamsize>(*n));
        } catch (const netlib::error &error) {
            status = attempts.next({}, error); // waits before a retry, or throws the error
        }
    } while (status == netlib::status::send_again);
    return std::cout.flush() ? 0 : 1;
} catch (const netlib::error &error) {
    std::cerr << error.report() << '\n';
    return 1;
}
