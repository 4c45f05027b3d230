# SPDX-License-Identifier: Apache-2.0
"""A link with a known delay, for tests: a tun device in a network namespace of its own.

Packets that this host sends to 10.77.0.2 come back a fixed time later as if that host had sent them
to 10.77.0.1: source and destination change places, which no checksum notices. So a server that
listens on this host is reached over a way whose round trip is twice the delay, by the kernel's own
TCP, without a module for it.

    link = DelayedLink(0.02)        raises Unavailable where there are no rights for it
    ... connect to 10.77.0.2 ...
"""

import ctypes
import fcntl
import heapq
import os
import select
import struct
import subprocess
import threading
import time

CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000

HERE, THERE = "10.77.0.1", "10.77.0.2"


class Unavailable(Exception):
    """What is missing for it here."""


def enter_namespace():
    """This process, and what it starts from now on, has a network of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNET) == 0:
        return
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise Unavailable(f"no network namespace: {os.strerror(ctypes.get_errno())}")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"),
                       ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


class DelayedLink:
    """The link, served by a thread as long as the process lives."""

    def __init__(self, delay_s):
        self.delay_s = delay_s
        self.dropping = False
        enter_namespace()
        try:
            self.device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
            fcntl.ioctl(self.device, TUNSETIFF, struct.pack("16sH22x", b"slow0",
                                                            IFF_TUN | IFF_NO_PI))
            for command in (["addr", "add", f"{HERE}/24", "dev", "slow0"],
                            ["link", "set", "slow0", "up"], ["link", "set", "lo", "up"]):
                subprocess.run(["ip", *command], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as reason:
            raise Unavailable(f"no tun device: {reason}") from reason
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        waiting, number = [], 0
        while True:
            left = max(0, waiting[0][0] - time.monotonic()) if waiting else None
            ready, _, _ = select.select([self.device], [], [], left)
            if ready:
                packet = os.read(self.device, 65536)
                number += 1
                if packet[0] >> 4 == 4 and not self.dropping:
                    turned = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
                    heapq.heappush(waiting, (time.monotonic() + self.delay_s, number, turned))
            while waiting and waiting[0][0] <= time.monotonic():
                os.write(self.device, heapq.heappop(waiting)[2])
