package netlib

import (
	"context"
	"net"
	"os"
	"strconv"
)

// DialContext connects to a host, as [Connect.Run] does with the options, and returns a connection that reads and
// writes with Go's runtime. The method suits the field DialContext of [net/http.Transport]. nil are the default
// options. While it connects, the call needs a thread.
//
// network is "tcp", "tcp4" or "tcp6". If the context ends first, the call returns the error of the context.
func (h *ConnectOptions) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, &net.AddrError{Err: "invalid port", Addr: address}
	}
	family, ok := map[string]AddressFamily{"tcp": AddressFamilyAny, "tcp4": AddressFamilyIPv4, "tcp6": AddressFamilyIPv6}[network]
	if !ok {
		return nil, net.UnknownNetworkError(network)
	}
	options := h
	if family != AddressFamilyAny {
		if h == nil {
			options = NewConnectOptions()
		} else {
			options = h.Clone()
		}
		defer options.AddressFamily(family).Close()
	}
	connect, err := NewConnect(host, int32(port), options)
	if err != nil {
		return nil, err
	}
	defer connect.Close()
	limit, stop, err := LimitFromContext(ctx)
	if err != nil {
		return nil, err
	}
	defer limit.Close()
	defer stop()
	fd, err := connect.Run(limit)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	file := os.NewFile(uintptr(fd), address)
	defer file.Close()
	return net.FileConn(file)
}
