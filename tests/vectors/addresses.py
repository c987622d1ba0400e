"""Records how Python's ipaddress module classifies IP addresses. The addresses are the first and last address of each
special block, their neighbours, random addresses inside each block, and random addresses from the whole range.

    python3.11 tests/vectors/addresses.py

writes `python-3.11/addresses.txt`. Each line has an address and the letters of its classes in PROPERTIES, or "-" if it
has none. src/socket/address_class/tests.rs compares them with netlib's, and says where and why netlib differs. Newer
releases of Python know more entries of the registries, so they differ less from netlib.
"""

import ipaddress
import pathlib
import random
import sys

BLOCKS = """
0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32 192.0.0.9/32
192.0.0.10/32 192.0.0.170/31 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24
198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32
::/128 ::1/128 ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2000::/3 2001::/23 2001::/32
2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48 2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28
2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
""".split()
PROPERTIES = {"g": "global", "l": "loopback", "k": "link_local", "m": "multicast", "u": "unspecified"}


def addresses():
    for text in BLOCKS:
        block = ipaddress.ip_network(text)
        first, last = int(block[0]), int(block[-1])
        inside = [random.randint(first, last) for _ in range(8)]
        for number in [first - 1, first, *sorted(inside), last, last + 1]:
            if 0 <= number < 2**block.max_prefixlen:
                yield ipaddress.IPv4Address(number) if block.version == 4 else ipaddress.IPv6Address(number)
    for _ in range(400):
        yield ipaddress.IPv4Address(random.getrandbits(32))
        yield ipaddress.IPv6Address(0x2 << 124 | random.getrandbits(124))
        yield ipaddress.IPv6Address(random.getrandbits(128))


def main():
    random.seed(20251009)
    lines = [f"# what ipaddress of Python {'.'.join(map(str, sys.version_info[:3]))} says; made by tests/vectors/addresses.py\n"]
    for address in dict.fromkeys(addresses()):
        letters = "".join(letter for letter, name in PROPERTIES.items() if getattr(address, f"is_{name}"))
        lines.append(f"{address} {letters or '-'}\n")
    target = pathlib.Path(__file__).parent / "python-{}.{}".format(*sys.version_info[:2]) / "addresses.txt"
    target.parent.mkdir(exist_ok=True)
    target.write_text("".join(lines))


if __name__ == "__main__":
    main()
