/* TLS in memory: a server-name callback that replaces the context, and the certificates of the peer. */
#include "harness.hpp"

#include <stdexcept>

using netlib::status;

static netlib::tls_options server_options() {
    return netlib::tls_options()
        .identity_files("tests/certs/server.pem", "tests/certs/server.key")
        .use_environment(false);
}

static netlib::tls_context client_context() {
    return netlib::tls_context(netlib::tls_options().add_ca_file("tests/certs/ca.pem").use_environment(false));
}

/** Passes the output of one engine to the other. */
static void pass(netlib::tls_engine &from, netlib::tls_engine &to) {
    std::uint8_t buf[4096];
    while (std::size_t n = from.drain(buf)) {
        for (netlib::span<const std::uint8_t> rest(buf, n); !rest.empty();) rest = rest.subspan(to.feed(rest));
    }
}

/** Makes the handshake of both engines. */
static void handshake(netlib::tls_engine &client, netlib::tls_engine &server) {
    for (int round = 0; round < 10; round++) {
        status of_client = client.handshake();
        pass(client, server);
        status of_server = server.handshake();
        pass(server, client);
        if (of_client == status::ok && of_server == status::ok) return;
    }
    CHECK(false);
}

static void a_callback_replaces_the_context_for_a_server_name() {
    netlib::tls_context replacement(server_options().add_alpn_protocol("replaced"));
    std::string seen;
    netlib::tls_context context(server_options()
                                    .add_alpn_protocol("original")
                                    .servername_callback([&](netlib::text name, netlib::tls_context &context_of_name) {
                                        seen += name;
                                        context_of_name = replacement;
                                        return netlib::verdict::allow;
                                    }));
    netlib::tls_context with_alpn(
        client_context().to_options().add_alpn_protocol("original").add_alpn_protocol("replaced"));
    for (int session = 0; session < 2; session++) {
        netlib::tls_engine server = netlib::tls_engine::new_server(context);
        netlib::tls_engine client = netlib::tls_engine::new_client(with_alpn, "localhost");
        handshake(client, server);
        EQUAL(client.alpn_protocol(), "replaced");
        EQUAL(server.server_name(), "localhost");
        EQUAL(client.version(), netlib::tls_version::v1_3);
        EQUAL(*client.write("ping"), std::size_t{4});
        pass(client, server);
        char buf[16];
        auto n = server.read(buf);
        EQUAL(std::string_view(buf, *n), "ping");
        EQUAL(server.read(buf).status, status::want_read);
        std::string names;
        for (netlib::span<const std::uint8_t> der : client.peer_certificates()) {
            netlib::certificate certificate = netlib::certificate::parse(der);
            for (const auto &item : certificate.names()) names += std::string(item.name) + " ";
        }
        CHECK(names.find("localhost ") != std::string::npos);
    }
    EQUAL(seen, "localhostlocalhost");
}

static void a_callback_that_replaces_nothing_keeps_the_context() {
    netlib::tls_context context(server_options().servername_callback(
        [](netlib::text, netlib::tls_context &) { return netlib::verdict::allow; }));
    netlib::tls_engine server = netlib::tls_engine::new_server(context);
    netlib::tls_engine client = netlib::tls_engine::new_client(client_context(), "localhost");
    handshake(client, server);
    CHECK(!client.alpn_protocol());
}

static void an_exception_of_the_callback_is_thrown_by_the_handshake_of_the_server() {
    netlib::tls_context context(
        server_options().servername_callback([](netlib::text name, netlib::tls_context &) -> netlib::verdict {
            throw std::runtime_error("no context for " + std::string(name));
        }));
    netlib::tls_engine server = netlib::tls_engine::new_server(context);
    netlib::tls_engine client = netlib::tls_engine::new_client(client_context(), "localhost");
    EQUAL(client.handshake(), status::want_read);
    pass(client, server);
    std::string message;
    try {
        (void)server.handshake();
    } catch (const std::runtime_error &error) {
        message = error.what();
    }
    EQUAL(message, "no context for localhost");
    FAILS(server.handshake(), status::callback_failed, "");
}

static void a_certificate_of_an_unknown_authority_is_an_error_with_facts() {
    netlib::tls_context trusts_nothing(
        netlib::tls_options().add_ca_file("tests/certs/other-ca.pem").use_environment(false));
    netlib::tls_engine server = netlib::tls_engine::new_server(netlib::tls_context(server_options()));
    netlib::tls_engine client = netlib::tls_engine::new_client(trusts_nothing, "localhost");
    try {
        handshake(client, server);
        CHECK(false);
    } catch (const netlib::error &error) {
        EQUAL(error.status(), status::certificate_verify);
        EQUAL(error.certificate_problem(), netlib::certificate_problem::unknown_issuer);
        CHECK(error.advice());
    }
}

int main() {
    a_callback_replaces_the_context_for_a_server_name();
    a_callback_that_replaces_nothing_keeps_the_context();
    an_exception_of_the_callback_is_thrown_by_the_handshake_of_the_server();
    a_certificate_of_an_unknown_authority_is_an_error_with_facts();
    return finish("test_engine");
}
