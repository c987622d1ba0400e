/* Parses and writes IP packets: TCP, UDP and ICMP over IPv4 and IPv6. */
#ifndef NETLIB_TEST_PACKET_H
#define NETLIB_TEST_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PACKET_MAX = 2048, PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_ICMPV6 = 58 };
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_PSH = 8, TCP_ACK = 16 };

struct packet {
    bool is_ipv6;
    int protocol;
    /* An IPv4 address has 4 bytes, an IPv6 address 16 bytes. */
    uint8_t source[16], destination[16];
    /* Set only for TCP and UDP. */
    uint16_t source_port, destination_port;
    uint32_t sequence, acknowledged;
    int flags;
    const uint8_t *data;
    size_t len;
    /* The whole packet, including its IP header. */
    const uint8_t *whole;
    size_t whole_len;
};

static inline uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static inline uint32_t get32(const uint8_t *at) { return (uint32_t)get16(at) << 16 | get16(at + 2); }

static inline void put16(uint8_t *at, size_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static inline void put32(uint8_t *at, uint32_t value) {
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

/* Returns the unfolded sum of RFC 1071. */
static inline uint32_t sum16(uint32_t sum, const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i + 1 < len; i += 2) sum += get16(bytes + i);
    return len % 2 == 1 ? sum + (uint32_t)(bytes[len - 1] << 8) : sum;
}

static inline uint16_t checksum(uint32_t sum) {
    while (sum > 0xffff) sum = (sum >> 16) + (sum & 0xffff);
    return (uint16_t)~sum;
}

/* Parses a packet of the namespace's kernel, which sends no IPv4 options and no IPv6 extension headers. */
static inline bool read_packet(const uint8_t *bytes, size_t len, struct packet *packet) {
    memset(packet, 0, sizeof *packet);
    packet->is_ipv6 = len > 0 && bytes[0] >> 4 == 6;
    size_t header = packet->is_ipv6 ? 40 : 20, address = packet->is_ipv6 ? 16 : 4;
    if (len < header + 8 || (!packet->is_ipv6 && bytes[0] != 0x45)) return false;
    packet->protocol = packet->is_ipv6 ? bytes[6] : bytes[9];
    memcpy(packet->source, bytes + header - 2 * address, address);
    memcpy(packet->destination, bytes + header - address, address);
    packet->whole = bytes;
    packet->whole_len = len;
    const uint8_t *inner = bytes + header;
    size_t skipped = 8;
    if (packet->protocol == PROTOCOL_TCP) {
        if (len < header + 20) return false;
        packet->sequence = get32(inner + 4);
        packet->acknowledged = get32(inner + 8);
        skipped = (size_t)(inner[12] >> 4) * 4;
        packet->flags = inner[13];
    } else if (packet->protocol != PROTOCOL_UDP) {
        return false;
    }
    if (len < header + skipped) return false;
    packet->source_port = get16(inner);
    packet->destination_port = get16(inner + 2);
    packet->data = inner + skipped;
    packet->len = len - header - skipped;
    return true;
}

/* Writes an IP packet with the payload `inner`. `check` is the offset of the checksum in `inner`. Returns the length of
 * the packet. */
static inline size_t write_ip(uint8_t *out, bool is_ipv6, int protocol, const uint8_t *source,
                              const uint8_t *destination, uint8_t *inner, size_t len, size_t check) {
    size_t header = is_ipv6 ? 40 : 20, address = is_ipv6 ? 16 : 4;
    memset(out, 0, header);
    if (is_ipv6) {
        out[0] = 0x60;
        put16(out + 4, len);
        out[6] = (uint8_t)protocol;
        out[7] = 64;
    } else {
        out[0] = 0x45;
        put16(out + 2, header + len);
        out[8] = 64;
        out[9] = (uint8_t)protocol;
    }
    memcpy(out + header - 2 * address, source, address);
    memcpy(out + header - address, destination, address);
    if (!is_ipv6) put16(out + 10, checksum(sum16(0, out, header)));
    put16(inner + check, 0);
    /* The checksum of ICMP over IPv4 does not cover the IP addresses. All other checksums do. */
    uint32_t sum = 0;
    if (protocol != PROTOCOL_ICMP)
        sum = sum16((uint32_t)protocol + (uint32_t)len, out + header - 2 * address, 2 * address);
    put16(inner + check, checksum(sum16(sum, inner, len)));
    memcpy(out + header, inner, len);
    return header + len;
}

/* Writes a TCP packet that answers the packet `to`. */
static inline size_t write_tcp(uint8_t *out, const struct packet *to, uint32_t sequence, uint32_t acknowledged,
                               int flags, const void *data, size_t len) {
    uint8_t inner[PACKET_MAX - 64] = {0};
    put16(inner, to->destination_port);
    put16(inner + 2, to->source_port);
    put32(inner + 4, sequence);
    put32(inner + 8, acknowledged);
    inner[12] = 5 << 4;
    inner[13] = (uint8_t)flags;
    put16(inner + 14, 65535);
    if (len > 0) memcpy(inner + 20, data, len);
    return write_ip(out, to->is_ipv6, PROTOCOL_TCP, to->destination, to->source, inner, 20 + len, 16);
}

static inline size_t write_udp(uint8_t *out, const struct packet *to, const uint8_t *data, size_t len) {
    uint8_t inner[PACKET_MAX - 64] = {0};
    put16(inner, to->destination_port);
    put16(inner + 2, to->source_port);
    put16(inner + 4, 8 + len);
    memcpy(inner + 8, data, len);
    return write_ip(out, to->is_ipv6, PROTOCOL_UDP, to->destination, to->source, inner, 8 + len, 6);
}

/* Writes the ICMP error "destination unreachable" that refers to the packet `about`. */
static inline size_t write_unreachable(uint8_t *out, const struct packet *about, int code) {
    uint8_t inner[PACKET_MAX - 64] = {0};
    size_t len = about->whole_len < 512 ? about->whole_len : 512;
    inner[0] = about->is_ipv6 ? 1 : 3;
    inner[1] = (uint8_t)code;
    memcpy(inner + 8, about->whole, len);
    int protocol = about->is_ipv6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP;
    return write_ip(out, about->is_ipv6, protocol, about->destination, about->source, inner, 8 + len, 2);
}

#endif
