# SPDX-License-Identifier: Apache-2.0
"""Ports for servers of tests and of the demo, so that several programs at once never get the same.

    import free_ports

    one, other = free_ports.take(2)     until this process ends nobody else is given them

Between finding a free port and a server's bind lies the server's start, and a server that is killed
and comes back leaves its port for a while. So a port is claimed for the life of the process that
asked, by binding an abstract Unix socket with the port's number in its name: no two processes can,
it has the same network namespace as the port, and the kernel lets go of it however a process ends.
The kernel's own choices, for outgoing connections and for port 0, are never among them.
"""

import random
import socket

# Below are ports that well-known servers have.
LEAST, MOST = 10000, 65535
ENOUGH = 2000
TRIES = 10000
CLAIMED = {}


def kernels_own():
    """The ports that the kernel gives to who asks for none in particular."""
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            first, last = map(int, file.read().split())
    except (OSError, ValueError):
        first, last = 32768, 60999
    return range(first, last + 1)


def candidates():
    """Where the kernel keeps nearly all for itself, they are among its own."""
    own = kernels_own()
    ports = [port for port in range(LEAST, MOST + 1) if port not in own]
    return ports if len(ports) >= ENOUGH else range(LEAST, MOST + 1)


def claimed(port):
    """The socket that says whose it is; None if it is another's."""
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0crest-port-{port}")
    except OSError:
        claim.close()
        return None
    return claim


def nobody_has(port):
    """Neither over TCP nor over UDP, nor any connection that is not quite over."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


def take(count):
    """So many ports of the loopback interface, this process's until it ends."""
    found, ports = [], candidates()
    for _ in range(TRIES):
        if len(found) == count:
            return found
        port = random.choice(ports)
        claim = claimed(port)
        if claim and nobody_has(port):
            CLAIMED[port] = claim
            found.append(port)
        elif claim:
            claim.close()
    raise OSError(f"no {count} free ports on 127.0.0.1: 'ss -tuln' shows who listens")
