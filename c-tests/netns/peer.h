/* Simulates the hosts behind the TUN device. A thread answers each packet as the entry of the destination host
 * describes. */
#ifndef NETLIB_TEST_PEER_H
#define NETLIB_TEST_PEER_H

#include "network.h"
#include "packet.h"

#include <pthread.h>

enum { HOSTS_MAX = 16, FLOWS_MAX = 64 };

enum answer {
    /* Never answers. */
    SILENT,
    /* Answers with SYN+ACK, then sends `data` one byte at a time, then FIN if `ends` is set. */
    ACCEPTS,
    RESETS,
    /* Answers with the ICMP error "destination unreachable" and `code`. */
    UNREACHABLE,
    /* Answers DNS queries with the result of `find`. */
    ANSWERS_NAMES,
};

/* Returns the answer to a DNS query for a host name and an address family: an address, "" for no address, or NULL for
 * no answer. `query` is the number of earlier queries for this family. */
typedef const char *find_fn(const char *name, int family, int query);

struct host {
    const char *address;
    enum answer answer;
    /* Seconds between a SYN and its answer. */
    double delay;
    int code;
    const char *data;
    /* Seconds between two bytes of `data`. */
    double every;
    bool ends;
    find_fn *find;
};

/* Counts of the packets that a host has received. */
struct seen {
    /* The time of the first SYN, and the number of SYNs. */
    double first;
    int syns;
    /* The number of completed TCP handshakes. */
    int opened;
    /* The numbers of RSTs and FINs received on connections that the host has answered. */
    int reset, closed;
    /* The numbers of DNS queries for IPv4 and for IPv6 addresses. */
    int ipv4_queries, ipv6_queries;
};

enum flow_state { FLOW_NONE, FLOW_SYN_RECEIVED, FLOW_ANSWERED, FLOW_OPEN, FLOW_CLOSED };

struct flow {
    enum flow_state state;
    size_t host;
    uint8_t bytes[256];
    struct packet syn;
    uint32_t next, theirs;
    /* The time at which the next packet is sent. HUGE_VAL means that the host sends no further packet. */
    double send_at;
    size_t sent;
};

struct peer {
    int tun;
    const struct host *hosts;
    size_t count;
    struct flow flows[FLOWS_MAX];
    int stop[2];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct seen seen[HOSTS_MAX];
};

static inline void send_packet(const struct peer *peer, const uint8_t *bytes, size_t len) {
    if (write(peer->tun, bytes, len) != (ssize_t)len) {
        fprintf(stderr, "the device refuses a packet of %zu bytes: %s\n", len, strerror(errno));
        abort();
    }
}

static inline void send_tcp(const struct peer *peer, struct flow *flow, int flags, const char *data, size_t len) {
    uint8_t bytes[PACKET_MAX];
    send_packet(peer, bytes, write_tcp(bytes, &flow->syn, flow->next, flow->theirs, flags, data, len));
    flow->next += (uint32_t)len + (flags & (TCP_SYN | TCP_FIN) ? 1 : 0);
}

static inline void schedule_data(const struct peer *peer, struct flow *flow) {
    const struct host *host = &peer->hosts[flow->host];
    bool more = host->data != NULL && flow->sent < strlen(host->data);
    flow->send_at = more || host->ends ? netlib_current_time() + host->every : HUGE_VAL;
}

/* Sends the next packet of a flow, and schedules the packet after it. */
static inline void send_next_packet(const struct peer *peer, struct flow *flow) {
    const struct host *host = &peer->hosts[flow->host];
    uint8_t bytes[PACKET_MAX];
    flow->send_at = HUGE_VAL;
    if (flow->state == FLOW_OPEN && host->data != NULL && flow->sent < strlen(host->data)) {
        send_tcp(peer, flow, TCP_PSH | TCP_ACK, host->data + flow->sent++, 1);
        schedule_data(peer, flow);
    } else if (flow->state == FLOW_OPEN) {
        send_tcp(peer, flow, TCP_FIN | TCP_ACK, NULL, 0);
    } else if (host->answer == ACCEPTS) {
        flow->state = FLOW_ANSWERED;
        flow->next = 1000000;
        send_tcp(peer, flow, TCP_SYN | TCP_ACK, NULL, 0);
    } else if (host->answer == RESETS) {
        flow->state = FLOW_CLOSED;
        send_tcp(peer, flow, TCP_RST | TCP_ACK, NULL, 0);
    } else if (host->answer == UNREACHABLE) {
        flow->state = FLOW_CLOSED;
        send_packet(peer, bytes, write_unreachable(bytes, &flow->syn, host->code));
    }
}

static inline void receive_syn(struct peer *peer, size_t at, struct flow *flow, const struct packet *packet) {
    struct seen *seen = &peer->seen[at];
    double now = netlib_current_time();
    if (seen->syns++ == 0) seen->first = now;
    /* A SYN that is retransmitted before its answer is only counted. */
    if (flow->state == FLOW_SYN_RECEIVED) return;
    flow->state = FLOW_SYN_RECEIVED;
    flow->host = at;
    size_t len = packet->whole_len < sizeof flow->bytes ? packet->whole_len : sizeof flow->bytes;
    memcpy(flow->bytes, packet->whole, len);
    flow->syn = *packet;
    flow->syn.whole = flow->bytes;
    flow->syn.whole_len = len;
    flow->theirs = packet->sequence + 1;
    flow->next = 0;
    flow->sent = 0;
    flow->send_at = peer->hosts[at].answer == SILENT ? HUGE_VAL : now + peer->hosts[at].delay;
}

static inline void receive_tcp(struct peer *peer, size_t at, const struct packet *packet) {
    struct flow *flow = NULL, *unused = NULL;
    for (size_t i = 0; i < FLOWS_MAX; i++) {
        struct flow *one = &peer->flows[i];
        if (one->state == FLOW_NONE) unused = one;
        else if (one->host == at && one->syn.source_port == packet->source_port) flow = one;
    }
    if (flow == NULL) flow = unused;
    if (flow == NULL) abort();
    if (packet->flags & TCP_SYN) {
        receive_syn(peer, at, flow, packet);
        return;
    }
    if (flow->state != FLOW_ANSWERED && flow->state != FLOW_OPEN) return;
    if (packet->flags & TCP_RST) {
        peer->seen[at].reset++;
        flow->state = FLOW_CLOSED;
        flow->send_at = HUGE_VAL;
        return;
    }
    if (flow->state == FLOW_ANSWERED) {
        flow->state = FLOW_OPEN;
        peer->seen[at].opened++;
        schedule_data(peer, flow);
    }
    flow->theirs = packet->sequence + (uint32_t)packet->len;
    if (packet->flags & TCP_FIN) {
        flow->theirs++;
        peer->seen[at].closed++;
        flow->state = FLOW_CLOSED;
        flow->send_at = HUGE_VAL;
        send_tcp(peer, flow, TCP_FIN | TCP_ACK, NULL, 0);
    } else if (packet->len > 0) {
        send_tcp(peer, flow, TCP_ACK, NULL, 0);
    }
}

/* Answers a DNS query that has one question (RFC 1035). */
static inline void receive_query(struct peer *peer, size_t at, const struct packet *packet) {
    uint8_t bytes[PACKET_MAX], reply[600] = {0};
    char name[256];
    size_t from = 12, len = 0;
    if (packet->len < 17 || packet->len > 512 || packet->destination_port != 53) return;
    while (from < packet->len && packet->data[from] != 0) {
        size_t label = packet->data[from];
        if (label > 63 || from + 1 + label >= packet->len || len + label + 2 > sizeof name) return;
        if (len > 0) name[len++] = '.';
        memcpy(name + len, packet->data + from + 1, label);
        len += label;
        from += 1 + label;
    }
    name[len] = '\0';
    size_t question = from + 5;
    if (question > packet->len) return;
    int type = get16(packet->data + from + 1);
    struct seen *seen = &peer->seen[at];
    const char *found = "";
    if (type == 1) found = peer->hosts[at].find(name, AF_INET, seen->ipv4_queries++);
    if (type == 28) found = peer->hosts[at].find(name, AF_INET6, seen->ipv6_queries++);
    if (found == NULL) return;
    memcpy(reply, packet->data, question);
    put16(reply + 2, 0x8180);
    put16(reply + 6, *found != '\0');
    put32(reply + 8, 0);
    len = question;
    if (*found != '\0') {
        size_t size = type == 1 ? 4 : 16;
        put16(reply + len, 0xc00c);
        put16(reply + len + 2, (size_t)type);
        put16(reply + len + 4, 1);
        put16(reply + len + 10, size);
        if (inet_pton(type == 1 ? AF_INET : AF_INET6, found, reply + len + 12) != 1) abort();
        len += 12 + size;
    }
    send_packet(peer, bytes, write_udp(bytes, packet, reply, len));
}

static inline void receive_packet(struct peer *peer, const uint8_t *bytes, size_t len) {
    struct packet packet;
    if (!read_packet(bytes, len, &packet)) return;
    for (size_t i = 0; i < peer->count; i++) {
        const struct host *host = &peer->hosts[i];
        uint8_t address[16];
        if (inet_pton(packet.is_ipv6 ? AF_INET6 : AF_INET, host->address, address) != 1) continue;
        if (memcmp(address, packet.destination, packet.is_ipv6 ? 16 : 4) != 0) continue;
        if (packet.protocol == PROTOCOL_TCP) receive_tcp(peer, i, &packet);
        else if (host->answer == ANSWERS_NAMES) receive_query(peer, i, &packet);
    }
}

/* Returns the flow that sends the next packet, or NULL. */
static inline struct flow *next_sender(struct peer *peer) {
    struct flow *next = NULL;
    for (size_t i = 0; i < FLOWS_MAX; i++) {
        struct flow *flow = &peer->flows[i];
        if (flow->state == FLOW_NONE || flow->send_at >= HUGE_VAL) continue;
        if (next == NULL || flow->send_at < next->send_at) next = flow;
    }
    return next;
}

static inline void *answer_packets(void *arg) {
    struct peer *peer = arg;
    struct pollfd fds[2] = {{.fd = peer->tun, .events = POLLIN}, {.fd = peer->stop[0], .events = POLLIN}};
    while (fds[1].revents == 0) {
        uint8_t bytes[PACKET_MAX];
        ssize_t len;
        pthread_mutex_lock(&peer->lock);
        while ((len = read(peer->tun, bytes, sizeof bytes)) > 0) receive_packet(peer, bytes, (size_t)len);
        struct flow *next;
        while ((next = next_sender(peer)) != NULL && next->send_at <= netlib_current_time())
            send_next_packet(peer, next);
        pthread_cond_broadcast(&peer->changed);
        pthread_mutex_unlock(&peer->lock);
        double seconds = next != NULL ? next->send_at - netlib_current_time() : 60.0;
        poll(fds, 2, seconds > 0.0 ? (int)(seconds * 1000) + 1 : 0);
    }
    return NULL;
}

static inline void start_peer(struct peer *peer, int tun, const struct host *hosts, size_t count) {
    memset(peer, 0, sizeof *peer);
    CHECK(count <= HOSTS_MAX);
    peer->tun = tun;
    peer->hosts = hosts;
    peer->count = count;
    pthread_mutex_init(&peer->lock, NULL);
    pthread_cond_init(&peer->changed, NULL);
    CHECK(pipe(peer->stop) == 0);
    CHECK(pthread_create(&peer->thread, NULL, answer_packets, peer) == 0);
}

#define START_PEER(peer, tun, hosts) start_peer((peer), (tun), (hosts), sizeof(hosts) / sizeof *(hosts))

static inline struct seen seen_at(struct peer *peer, size_t host) {
    pthread_mutex_lock(&peer->lock);
    struct seen seen = peer->seen[host];
    pthread_mutex_unlock(&peer->lock);
    return seen;
}

/* Waits until a host has received `count` SYNs. */
static inline void await_syns(struct peer *peer, size_t host, int count) {
    pthread_mutex_lock(&peer->lock);
    while (peer->seen[host].syns < count) pthread_cond_wait(&peer->changed, &peer->lock);
    pthread_mutex_unlock(&peer->lock);
}

/* Waits until the host has received a RST on a connection that it has answered. */
static inline void await_reset(struct peer *peer, size_t host) {
    pthread_mutex_lock(&peer->lock);
    while (peer->seen[host].reset == 0) pthread_cond_wait(&peer->changed, &peer->lock);
    pthread_mutex_unlock(&peer->lock);
}

/* Waits until a name server has received a query for an IPv4 address. */
static inline void await_query(struct peer *peer, size_t host) {
    pthread_mutex_lock(&peer->lock);
    while (peer->seen[host].ipv4_queries == 0) pthread_cond_wait(&peer->changed, &peer->lock);
    pthread_mutex_unlock(&peer->lock);
}

static inline void stop_peer(struct peer *peer) {
    CHECK(write(peer->stop[1], "", 1) == 1);
    CHECK(pthread_join(peer->thread, NULL) == 0);
    close(peer->stop[0]);
    close(peer->stop[1]);
    pthread_mutex_destroy(&peer->lock);
    pthread_cond_destroy(&peer->changed);
}

#endif
