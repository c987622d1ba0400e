/* Creates a private network for a test: a network namespace with a TUN device, whose packets the test reads and
 * writes. */
#ifndef NETLIB_TEST_NETWORK_H
#define NETLIB_TEST_NETWORK_H

#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#define OWN_IPV4 "192.0.2.1"
#define OWN_IPV6 "2001:db8::1"
#define NAMESERVER_IPV4 "192.0.2.53"

/* Flags of open_network. */
enum {
    /* IPv6 is disabled on all devices, including the loopback device. */
    WITHOUT_IPV6 = 1,
    /* Only the loopback device has an IPv6 address. */
    WITHOUT_IPV6_ROUTE = 2,
    /* The resolver of the C library queries NAMESERVER_IPV4. */
    WITH_NAMESERVER = 4,
};

/* The reason why the network cannot be created. */
static char no_network[256];

__attribute__((format(printf, 1, 2))) static inline int without_network(const char *format, ...) {
    int number = errno;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(no_network, sizeof no_network, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof no_network)
        snprintf(no_network + len, sizeof no_network - (size_t)len, ": %s", strerror(number));
    return -1;
}

static inline int write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return without_network("%s cannot be opened", path);
    bool whole = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (!whole) (void)without_network("%s cannot be written", path);
    close(fd);
    return whole ? 0 : -1;
}

/* Enters new network and mount namespaces. Root may create them directly. Other users also need a user namespace, which
 * some systems forbid. */
static inline int enter_namespaces(void) {
    char map[64];
    unsigned uid = (unsigned)getuid(), gid = (unsigned)getgid();
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) == 0) return 0;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) != 0) return without_network("no namespaces for this user");
    if (write_file("/proc/self/setgroups", "deny") != 0) return -1;
    snprintf(map, sizeof map, "0 %u 1", uid);
    if (write_file("/proc/self/uid_map", map) != 0) return -1;
    snprintf(map, sizeof map, "0 %u 1", gid);
    return write_file("/proc/self/gid_map", map);
}

static inline int tun_device(void) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    snprintf(request.ifr_name, sizeof request.ifr_name, "tun0");
    int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tun < 0) return without_network("/dev/net/tun cannot be opened");
    if (ioctl(tun, TUNSETIFF, &request) == 0) return tun;
    close(tun);
    return without_network("no TUN device");
}

static inline int bring_up(int control, const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    bool up = ioctl(control, SIOCGIFFLAGS, &request) == 0;
    request.ifr_flags = (short)(request.ifr_flags | IFF_UP);
    up = up && ioctl(control, SIOCSIFFLAGS, &request) == 0;
    return up ? 0 : without_network("%s cannot be brought up", name);
}

/* Sets the IPv4 address of the TUN device, and a default route through the device. */
static inline int configure_ipv4(int control) {
    struct ifreq request;
    struct rtentry route;
    struct sockaddr_in *address = (struct sockaddr_in *)&request.ifr_addr;
    memset(&request, 0, sizeof request);
    memset(&route, 0, sizeof route);
    char device[] = "tun0";
    memcpy(request.ifr_name, device, sizeof device);
    address->sin_family = AF_INET;
    inet_pton(AF_INET, OWN_IPV4, &address->sin_addr);
    if (ioctl(control, SIOCSIFADDR, &request) != 0 || bring_up(control, device) != 0)
        return without_network("no IPv4 address for the device");
    route.rt_dst.sa_family = route.rt_genmask.sa_family = AF_INET;
    route.rt_flags = RTF_UP;
    route.rt_dev = device;
    return ioctl(control, SIOCADDRT, &route) == 0 ? 0 : without_network("no IPv4 route");
}

/* Waits until the kernel uses the new IPv6 address, which takes a short time. Until then connections come from another
 * address. A datagram that arrives at the address proves that the address is usable. TUN devices have no duplicate
 * address detection, which would take a second. */
static inline int await_own_ipv6(void) {
    struct sockaddr_in6 own = {.sin6_family = AF_INET6};
    socklen_t len = sizeof own;
    inet_pton(AF_INET6, OWN_IPV6, &own.sin6_addr);
    double began = netlib_current_time();
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    bool arrived = false, bound = false;
    while (!arrived && netlib_current_time() - began < 10.0) {
        bound = bound || bind(fd, (struct sockaddr *)&own, len) == 0;
        if (bound && getsockname(fd, (struct sockaddr *)&own, &len) == 0)
            sendto(fd, "", 1, 0, (struct sockaddr *)&own, len);
        arrived = poll(&readable, 1, 2) == 1;
    }
    close(fd);
    return arrived ? 0 : without_network("the IPv6 address stays unusable");
}

static inline int configure_ipv6(int control) {
    /* A copy of struct in6_ifreq, whose header conflicts with the headers of the C library. */
    struct {
        struct in6_addr address;
        uint32_t prefix;
        int index;
    } request;
    struct in6_rtmsg route;
    memset(&request, 0, sizeof request);
    memset(&route, 0, sizeof route);
    request.index = route.rtmsg_ifindex = (int)if_nametoindex("tun0");
    request.prefix = 64;
    inet_pton(AF_INET6, OWN_IPV6, &request.address);
    if (ioctl(control, SIOCSIFADDR, &request) != 0) return without_network("no IPv6 address for the device");
    route.rtmsg_flags = RTF_UP;
    route.rtmsg_metric = 1;
    return ioctl(control, SIOCADDRT, &route) == 0 ? await_own_ipv6() : without_network("no IPv6 route");
}

/* Replaces the content of a system file for this process only. Does nothing if the file does not exist. */
static inline int replace_file(const char *path, const char *text) {
    char own[] = "/tmp/netlib-netns-XXXXXX";
    if (access(path, F_OK) != 0) return 0;
    int fd = mkstemp(own);
    if (fd < 0) return without_network("no temporary file");
    close(fd);
    int done = write_file(own, text);
    if (done == 0 && mount(own, path, NULL, MS_BIND, NULL) != 0) done = without_network("%s cannot be replaced", path);
    unlink(own);
    return done;
}

static inline int configure_name_service(void) {
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return without_network("the mounts cannot be made private");
    if (access("/etc/resolv.conf", F_OK) != 0) return without_network("no /etc/resolv.conf to replace");
    if (replace_file("/etc/resolv.conf", "nameserver " NAMESERVER_IPV4 "\noptions timeout:1 attempts:2\n") != 0)
        return -1;
    return replace_file("/etc/nsswitch.conf", "hosts: files dns\n");
}

/* Moves this single-threaded process into its own network. Returns the descriptor of the TUN device, or -1. */
static inline int open_network(unsigned flags) {
    if (enter_namespaces() != 0) return -1;
    int tun = tun_device();
    if (tun < 0) return -1;
    const char *disabled = flags & WITHOUT_IPV6 ? "1" : "0";
    static const char *const switches[] = {
        "/proc/sys/net/ipv6/conf/all/disable_ipv6",
        "/proc/sys/net/ipv6/conf/default/disable_ipv6",
        "/proc/sys/net/ipv6/conf/lo/disable_ipv6",
        "/proc/sys/net/ipv6/conf/tun0/disable_ipv6",
    };
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (write_file(switches[i], disabled) != 0) return -1;
    int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
        control6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (control < 0 || control6 < 0) return without_network("no socket");
    int done = bring_up(control, "lo");
    if (done == 0) done = configure_ipv4(control);
    if (done == 0 && !(flags & (WITHOUT_IPV6 | WITHOUT_IPV6_ROUTE))) done = configure_ipv6(control6);
    close(control);
    close(control6);
    if (done == 0 && flags & WITH_NAMESERVER) done = configure_name_service();
    if (done == 0) return tun;
    close(tun);
    return -1;
}

#endif
