#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""Who may push: certificates of both sides, passwords, tokens and proxies, against a real
Pushgateway with a web configuration and a small real proxy. And that no secret is ever shown.
"""

import base64
import gzip
import os
import select
import shutil
import socket
import socketserver
import subprocess
import threading

import harness
from harness import Failure, Program, Prometheus, Pushgateway, contains, equal, lacks
from pushlib import Authority, Fake, Totals, attach, hang, openssl

GROUP = {"job": "push", "instance": "one"}
# Of "pass:word/1", by bcrypt with the least work.
PASSWORD = "pass:word/1"
PASSWORD_HASH = "$2b$04$BLqIyQqLaHd2pZr7TKVubek8rgm7vcNRV9BMnZu1..Knzvh9Jmxs6"
# In no other text that a test or a message has.
SECRET = "Zq7-swordfish"


def write_secret(place, name, text, mode=0o600):
    path = place.folder / name
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def mutual(place, authority, clients):
    """A gateway that wants certificates by `clients` and the password."""
    file, key = authority.sign("server")
    gateway = Pushgateway(place, web_config=f"tls_server_config: {{cert_file: {file}, key_file: "
                          f"{key}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: "
                          f"{clients.file}}}\nbasic_auth_users: {{node: {PASSWORD_HASH}}}\n")
    gateway.start()
    gateway.url = gateway.url.replace("http:", "https:")
    return gateway


def pushed(place, url, **environment):
    """(status, message) of a push of a program of its own."""
    program = attach(place, url, **environment)
    Totals().record(program, 2, 50)
    result = program.tell("push")
    program.leave()
    return result


def certificates_of_both_sides_are_checked(place):
    ours, theirs = Authority(place, "ours"), Authority(place, "theirs")
    gateway = mutual(place, ours, ours)
    file, key = ours.sign("client")
    stranger, stranger_key = theirs.sign("stranger")
    locked = place.folder / "locked.key"
    openssl("pkey", "-in", str(key), "-aes256", "-passout", f"pass:{SECRET}", "-out", str(locked))
    login = {"CA_FILE": str(ours.file), "PUSH_USER": "node",
             "PASSWORD_FILE": write_secret(place, "password", PASSWORD + "\n")}
    good = {**login, "CERT_FILE": str(file), "KEY_FILE": str(key)}
    right = write_secret(place, "key-password", SECRET + "\n")
    wrong = write_secret(place, "wrong-password", "wrong\n")
    with_lock = {**good, "KEY_FILE": str(locked)}
    for environment, wanted, says in (
            (good, "OK", ""),
            ({**with_lock, "KEY_PASSWORD_FILE": right}, "OK", ""),
            ({**with_lock, "KEY_PASSWORD_FILE": wrong}, "UNREACHABLE", "key-password-file"),
            # OpenSSL would ask for it at the terminal.
            (with_lock, "UNREACHABLE", "key-password-file"),
            ({**good, "KEY_FILE": str(stranger_key)}, "UNREACHABLE", "belong together"),
            # With TLS 1.3 the alert comes late, and the reset behind it may overtake it.
            (login, ("UNREACHABLE", "IO"), "wants a certificate of ours"),
            ({**good, "CERT_FILE": str(stranger), "KEY_FILE": str(stranger_key)},
             ("UNREACHABLE", "IO"), "wants a certificate of ours"),
            ({**good, "CA_FILE": str(theirs.file)}, "UNREACHABLE", "pushgateway.ca-file"),
            ({**good, "PASSWORD_FILE": wrong}, "REFUSED", "pushgateway.password-file")):
        status, message = pushed(place, gateway.url, **environment)
        contains(wanted if isinstance(wanted, tuple) else (wanted,), status, message)
        contains(message, says)
        lacks(message, SECRET)
        lacks(message, PASSWORD)


def certificates_for_others_and_of_yesterday_are_told(place):
    ours = Authority(place, "ours")
    for name, alternative, expired, says in (
            ("elsewhere", "DNS:gateway.example", False, "was issued for another name"),
            ("old", "IP:127.0.0.1", True, "certificate renewed"),
            ("here", "IP:127.0.0.1", False, None)):
        file, key = ours.sign(name, alternative, expired)
        whole = place.folder / f"{name}-whole.pem"
        whole.write_bytes(key.read_bytes() + file.read_bytes())
        fake = Fake(place, certificate=whole)
        status, message = pushed(place, fake.url, CA_FILE=str(ours.file))
        if says is None:
            equal(status, "OK", message)
            continue
        equal(status, "UNREACHABLE", message)
        contains(message, says)
        equal(fake.requests, [])


def a_password_is_exchanged_while_it_pushes(place):
    gateway = Pushgateway(place, web_config=f"basic_auth_users: {{node: {PASSWORD_HASH}}}\n")
    gateway.start()
    path = write_secret(place, "password", PASSWORD)
    program = attach(place, gateway.url, PUSH_USER="node", PASSWORD_FILE=path, LOG="1")
    totals = Totals()
    totals.record(program, 2, 100)
    program.do("push")
    write_secret(place, "password", "another\n")
    status, message = program.tell("push")
    equal(status, "REFUSED", message)
    contains(message, "code 401")
    os.unlink(path)
    status, message = program.tell("push")
    equal(status, "IO", message)
    contains(message, f"the file {path} cannot be read: No such file")
    totals.record(program, 2, 100)
    write_secret(place, "password", PASSWORD + "\n", 0o644)
    for _ in range(3):
        program.do("push")
    status, errors = program.leave("exit 0")
    equal(status, 0)
    equal(errors.count("everybody on this machine can read it"), 1, errors)
    lacks(errors, PASSWORD)


class Proxy:
    """A real one: passes requests on and makes tunnels, for who has the password, if it has one."""

    def __init__(self, place, password=None):
        self.passed, self.tunnels, self.refused, self.seen = 0, 0, 0, b""
        proxy = self
        wanted = None
        if password:
            wanted = b"Basic " + base64.b64encode(password.encode())

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while self.one():
                    pass

            def one(self):
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = self.rfile.readline(65536)
                    if not line:
                        return False
                    head += line
                proxy.seen += head
                fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
                fields = {name.lower(): value for name, value in fields.items()}
                method, target, _ = head.split(b" ", 2)
                if wanted and fields.get(b"proxy-authorization") != wanted:
                    proxy.refused += 1
                    self.wfile.write(b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n"
                                     b"Connection: close\r\n\r\n")
                    return False
                if method == b"CONNECT":
                    return self.tunnel(target)
                return self.forward(head, target, int(fields.get(b"content-length", 0)))

            def tunnel(self, target):
                proxy.tunnels += 1
                host, port = target.decode().rsplit(":", 1)
                with socket.create_connection((host, int(port)), harness.ANSWER_S) as server:
                    self.wfile.write(b"HTTP/1.1 200 Yes\r\n\r\n")
                    pairs = {self.connection: server, server: self.connection}
                    while True:
                        for ready in select.select(list(pairs), [], [], 60)[0]:
                            data = ready.recv(65536)
                            if not data:
                                return False
                            pairs[ready].sendall(data)

            def forward(self, head, target, length):
                proxy.passed += 1
                rest = target.removeprefix(b"http://")
                address, _, path = rest.partition(b"/")
                host, port = address.decode().rsplit(":", 1)
                lines = [line for line in head.replace(target, b"/" + path, 1).split(b"\r\n")
                         if not line.lower().startswith(b"proxy-")]
                lines.insert(1, b"Connection: close")
                with socket.create_connection((host, int(port)), harness.ANSWER_S) as server:
                    server.sendall(b"\r\n".join(lines) + self.rfile.read(length))
                    while data := server.recv(65536):
                        self.wfile.write(data)
                return False

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        place.started.append(self)

    def kill(self):
        self.server.shutdown()
        self.server.server_close()


def pushes_go_through_a_proxy(place):
    gateway = Pushgateway(place).start()
    prometheus = Prometheus(place, [gateway]).start()
    proxy = Proxy(place, f"user:{SECRET}")
    # The environment's word on proxies counts neither for one nor against it.
    program = attach(place, gateway.url, PROXY=f"http://user:{SECRET}@{proxy.address}",
                     no_proxy="*", http_proxy="http://127.0.0.1:1")
    totals = Totals()
    for turn in range(3):
        totals.record(program, 4, 100)
        program.do("push")
        equal(proxy.passed, turn + 1)
    totals.check_gateway(gateway, GROUP)
    totals.check(prometheus, 'job="push", instance="one"')
    direct = attach(place, gateway.url, instance="two", http_proxy=f"http://{proxy.address}",
                    ALL_PROXY=f"http://{proxy.address}")
    direct.do("push")
    equal(proxy.passed, 3)
    status, message = pushed(place, gateway.url, PROXY=f"http://user:no{SECRET}@{proxy.address}")
    equal(status, "REFUSED", message)
    contains(message, "code 407")
    lacks(message, SECRET)
    lacks(gateway.page(), SECRET)


def tls_goes_through_a_proxys_tunnel(place):
    ours = Authority(place, "ours")
    gateway = mutual(place, ours, ours)
    file, key = ours.sign("client")
    proxy = Proxy(place, f"user:{SECRET}")
    login = {"CA_FILE": str(ours.file), "CERT_FILE": str(file), "KEY_FILE": str(key),
             "PUSH_USER": "node", "PASSWORD_FILE": write_secret(place, "password", PASSWORD)}
    program = attach(place, gateway.url, PROXY=f"http://user:{SECRET}@{proxy.address}", **login)
    totals = Totals()
    for _ in range(3):
        totals.record(program, 4, 100)
        program.do("push")
    # The tunnel is kept, and what goes through it the proxy cannot see.
    equal(proxy.tunnels, 1)
    lacks(proxy.seen, b"/metrics/job")
    lacks(proxy.seen, b"\r\nAuthorization:")
    status, message = pushed(place, gateway.url, PROXY=f"http://{proxy.address}", **login)
    equal(status, "REFUSED", message)
    contains(message, f"the proxy http://{proxy.address} answered with code 407")
    gateway.stop()
    status, message = program.tell("push")
    contains(("UNREACHABLE", "IO"), status, message)
    lacks(message, SECRET)


def a_token_goes_to_the_gateway_alone(place):
    ours = Authority(place, "ours")
    file, key = ours.sign("server")
    whole = place.folder / "whole.pem"
    whole.write_bytes(key.read_bytes() + file.read_bytes())
    elsewhere = Fake(place)

    def check(handler):
        if handler.headers.get("Authorization") != f"Bearer {SECRET}":
            handler.answer(401, b"who are you?\n")
        elif "redirected" in handler.path:
            handler.send_response(307)
            handler.send_header("Location", elsewhere.url + handler.path)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        else:
            handler.answer(200)

    fake = Fake(place, check, whole)
    token = write_secret(place, "token", SECRET + "\n")
    environment = {"CA_FILE": str(ours.file), "BEARER_FILE": token}
    equal(pushed(place, fake.url, **environment)[0], "OK")
    equal(pushed(place, fake.url, CA_FILE=str(ours.file), BEARER_ENV="TOKEN", TOKEN=SECRET)[0],
          "OK")
    status, message = pushed(place, fake.url, CA_FILE=str(ours.file))
    equal(status, "REFUSED", message)
    contains(message, "pushgateway.bearer-file")
    status, message = pushed(place, fake.url, job="redirected", **environment)
    equal(status, "REFUSED", message)
    contains(message, "not followed")
    equal(elsewhere.requests, [])
    attach(place, fake.url, BEARER_FILE="/nonexistent", wanted="/nonexistent cannot be read")


def no_secret_is_ever_shown(place):
    """Every message, error, log line and page of programs that are full of secrets."""
    shown = []

    def answer(code):
        return lambda handler: handler.answer(code, b"who are you?\n")

    def broken(handler):
        handler.wfile.write(b"\x00\x01 what?\r\n")
        handler.close_connection = True

    proxy = Proxy(place)
    path = write_secret(place, "secret", SECRET + "\n", 0o644)
    manners = [answer(200), answer(400), answer(401), answer(503), broken]
    for environment, user in (
            ({"PUSH_USER": "node", "PASSWORD_FILE": path}, ""),
            ({"PUSH_USER": "node", "PASSWORD_ENV": "WORD", "WORD": SECRET}, ""),
            ({"BEARER_FILE": path}, ""),
            ({"BEARER_ENV": "WORD", "WORD": SECRET, "KEY_FILE": path, "CERT_FILE": path,
              "KEY_PASSWORD_FILE": path}, ""),
            ({}, f"node:{SECRET}@"),
            ({"PROXY": f"http://user:{SECRET}@{proxy.address}", "TIMEOUT_MS": "5000"}, "")):
        # A time-out is waited for where there is something to say of it.
        turns = manners + [hang] * ("PROXY" in environment)
        turn = iter(turns)
        fake = Fake(place, lambda handler, turn=turn: next(turn)(handler))
        program = attach(place, fake.url.replace("//", "//" + user), LOG="1", **environment)
        totals = Totals()
        totals.record(program, 2, 50)
        for _ in turns:
            shown.append(program.tell("push")[1])
            shown.append(program.do("state"))
        for wrong in ("", SECRET + "\n" + SECRET, SECRET * 1000):
            write_secret(place, "secret", wrong)
            shown.append(program.tell("push")[1])
        write_secret(place, "secret", SECRET + "\n", 0o644)
        shown.append(program.tell("stop")[1])
        shown.append(program.leave()[1])
        equal(len(fake.requests) >= len(manners), True)
        page = gzip.decompress(fake.requests[0][2]).decode("utf-8")
        contains(page, f"push_events_done_total {totals.events}\n")
        shown.append(page)
    for options in (f"pushgateway=http://u:{SECRET}@h:x", f"pushgateway=http://u:{SECRET}@h/@",
                    f"pushgateway=http://h,pushgateway.proxy=http://u:{SECRET}@p",
                    f"pushgateway=http://u:{SECRET}@h,pushgateway.bearer-file={path}",
                    f"pushgateway=http://h,pushgateway.bearer-file={path},pushgateway.job="):
        program = Program(place, "push_program", "start", options, LOG="1")
        shown.append(program.begun)
        shown.append(program.leave()[1])
    for text in shown:
        lacks(text, SECRET)
        lacks(text, SECRET[3:])
        lacks(text, base64.b64encode(f"node:{SECRET}".encode()).decode()[:20])


def options_do_the_same_up_to_the_exit(place):
    """crest_start with everything, and a process that ends without a stop: the flush at exit has
    TLS, the certificate and the password."""
    ours = Authority(place, "ours")
    gateway = mutual(place, ours, ours)
    file, key = ours.sign("client")
    locked = place.folder / "locked.key"
    openssl("pkey", "-in", str(key), "-aes256", "-passout", f"pass:{SECRET}", "-out", str(locked))
    proxy = Proxy(place)
    options = (f"service=push,interval=1h,pushgateway={gateway.url},pushgateway.instance=one,"
               f"pushgateway.user=node,pushgateway.method=post,pushgateway.ca-file={ours.file},"
               f"pushgateway.password-file={write_secret(place, 'password', PASSWORD)},"
               f"pushgateway.cert-file={file},pushgateway.key-file={locked},"
               f"pushgateway.key-password-file={write_secret(place, 'lock', SECRET)},"
               f"pushgateway.proxy=http://{proxy.address}")
    program = Program(place, "push_program", "start", options, LOG="1")
    equal(program.begun.strip(), "OK")
    totals = Totals()
    totals.record(program, 4, 250)
    equal(program.leave("exit 3"), (3, ""))
    equal(proxy.tunnels, 1)
    reader = shutil.which("curl")
    if reader is None:
        raise harness.Skip("there is no curl to read from the gateway with")
    done = subprocess.run(
        [reader, "-sS", "--cacert", ours.file, "--cert", file, "--key", key, "-u",
         f"node:{PASSWORD}", f"{gateway.url}/metrics"], capture_output=True, text=True, check=False,
        timeout=harness.ANSWER_S)
    contains(done.stdout, f'push_events_done_total{{instance="one",job="push"}} {totals.events}\n',
             done.stderr)


if __name__ == "__main__":
    harness.main([
        certificates_of_both_sides_are_checked,
        certificates_for_others_and_of_yesterday_are_told,
        a_password_is_exchanged_while_it_pushes,
        pushes_go_through_a_proxy,
        tls_goes_through_a_proxys_tunnel,
        a_token_goes_to_the_gateway_alone,
        no_secret_is_ever_shown,
        options_do_the_same_up_to_the_exit,
    ])
