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
    netlib::request_parts request{"GET", netlib::parse_url_strict(argv[1]), headers};
    for (auto &attempt : netlib::attempts(*netlib::retry::recommended(), request, limit)) {
        try {
            auto stream = *netlib::stream::connect(attempt.url(), tls, options, limit);
            auto message = attempt.request();
            stream.write(message.to_wire());
            auto response = *stream.read_response(attempt.method());
            if (!attempt.accept(response)) continue; // a retry or a redirect follows
            char buf[65536];
            netlib::body_decoder decoder(response);
            while (auto n = stream.read_body(decoder, buf)) std::cout.write(buf, static_cast<std::streamsize>(*n));
        } catch (const netlib::error &error) {
            attempt.failed(error); // throws if the error is not retried
        }
    }
    return std::cout.flush() ? 0 : 1;
} catch (const netlib::error &error) {
    std::cerr << error.report() << '\n';
    return 1;
}
