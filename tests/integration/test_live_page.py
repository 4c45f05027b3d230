#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=600 sanitizers=no
"""The live page: what its paths give and refuse, and the page itself in a browser, where its
figures are the node's, names of any text stay text, and a node that was killed is told of."""

import http.client
import json

from chromium import Browser, path
from harness import ANSWER_S, Program, contains, equal, free_port, main, wait_for

MARKUP = "<img src=x onerror=\"document.title='broken into'\">"
QUOTED = MARKUP.replace("'", "''")
SERIES_MOST_BYTES = 200_000


class Node:
    def __init__(self, place, more=""):
        self.port = free_port()
        self.program = Program(place, "scrape_program",
                               f"page=on,page.listen=127.0.0.1:{self.port},"
                               f"service='{QUOTED}',instance=node-7{more}")
        equal(self.program.begun.split()[0], "OK", self.program.begun)
        wait_for("where it is", lambda: f"http://127.0.0.1:{self.port}/" in
                 self.program.errors.read_text(encoding="utf-8"))

    def ask(self, target, method="GET", body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_S)
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def series(self, query=""):
        status, _, body = self.ask("/series" + query)
        equal(status, 200, body)
        head, *lines = map(json.loads, body.decode().splitlines())
        return head, lines


def what_the_paths_give(place):
    node = Node(place)
    node.program.do("record 2 10")
    status, headers, body = node.ask("/")
    equal(status, 200)
    contains(headers["Content-Security-Policy"], "default-src 'none'; script-src 'self'")
    equal(headers["X-Content-Type-Options"], "nosniff")
    contains(body.decode(), '<script src="live.js" defer></script>')
    contains(node.ask("/live.css")[1]["Content-Type"], "text/css")
    equal(node.ask("/spans")[2], b"")
    equal(node.ask("/-/healthy")[2], b"Healthy\n")
    head, lines = node.series()
    equal((head["live"], head["service"], head["instance"], head["from"]), (1, MARKUP, "node-7", 0))
    equal(head["matching"], len(lines))
    equal([one["name"] for one in head["reporters"]], ["page"])
    done = [line["value"] for line in lines if line["metric"] == "scrape.events-done"]
    equal(done, [20])
    # what the node says itself comes first, and Crest's own only when asked for
    names = [line["metric"] for line in lines]
    equal([name for name in names if name.startswith("crest.")], [])
    own, all_lines = node.series("?own=1&most=2000")
    equal(own["matching"] > head["matching"], True)
    equal(own["matching"], own["series"])
    last = [line["metric"].startswith("crest.") for line in all_lines]
    equal(last, sorted(last), "the order of Crest's own series")


def series_are_chosen(place):
    node = Node(place)
    node.program.do("record 2 10")
    for query, wanted in (("?search=KINDS", {"scrape.kinds-seen"}),
                          ("?search=caf%C3%A9", {"scrape.kinds-seen"}),
                          ("?search=size%20%20scrape%20", {"scrape.message-size"}),
                          ("?search=kind%20nothing-has-that", set()),
                          ("?name=scrape.level", {"scrape.level"}), ("?name=scrape.leve", set())):
        equal({line["metric"] for line in node.series(query)[1]}, wanted, query)
    flies = {line["metric"] for line in node.series("?flight=1")[1]}
    equal(flies, {"scrape.step-time.in-flight", "scrape.step-time.oldest"})
    _, lines = node.series("?most=1000")
    head, part = node.series("?from=3&most=2")
    equal((head["from"], head["matching"]), (3, len(lines)))
    equal([line["metric"] for line in part], [line["metric"] for line in lines[3:5]])
    equal(node.series("?from=999999999")[1], [])
    powers = node.series("?name=scrape.message-size")[1][0]
    exact = node.series("?name=scrape.message-size&buckets=1")[1][0]
    equal(sum(count for _, _, count in exact["buckets"]), exact["count"])
    equal(exact["buckets"][0][1] - exact["buckets"][0][0] <
          powers["buckets"][-1][1] - powers["buckets"][-1][0], True)


def wrong_requests_are_refused(place):
    node = Node(place)
    for query in ("from=x", "from=-1", "most=2001", "most=", "own=2", "buckets=yes", "flight=",
                  "from=99999999999", "search=" + "x" * 256, "name=" + "y" * 300):
        status, _, body = node.ask("/series?" + query)
        equal(status, 400, query)
        contains(body.decode(), "=")
    equal(node.ask("/metrics")[0], 404)
    equal(node.ask("/live.js/")[0], 404)
    equal(node.ask("/", "POST", "x")[0], 405)
    equal(node.ask("/series", "HEAD")[0], 405)
    for target in ("/", "/series", "/spans"):
        status, _, body = node.ask(target, Host="evil.example")
        equal(status, 403, target)
        contains(body.decode(), "page.hosts=NAME")
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        equal(node.ask("/series", **headers)[0], 403, headers)
        equal(node.ask("/", **headers)[0], 200, "a link that leads here")
    equal(node.ask("/series", **{"Sec-Fetch-Site": "same-origin"})[0], 200)
    node.program.leave("stop 5000")
    for options, word in (("page=yes", "page.listen"), ("page=on,page.listen=nowhere:x", "nowhere"),
                          ("page=on,page.port=1", "page.port"), ("page=on,threads=off", "threads")):
        contains(Program(place, "scrape_program", options).begun, word)


def many_series_are_little_to_send(place):
    node = Node(place)
    node.program.do("many 50000")
    status, _, body = node.ask("/series?most=100")
    equal(status, 200)
    head = json.loads(body[:body.index(b"\n")])
    equal(head["matching"] >= 50000, True, head)
    equal(body.count(b"\n"), 101)
    equal(len(body) < SERIES_MOST_BYTES, True, f"{len(body)} bytes")


def cell(name, column):
    """Of the row of a series: the text of a cell."""
    return (f"[...document.querySelectorAll('#series tbody tr')].find(row => row.cells[0]"
            f".firstChild.textContent === {json.dumps(name)})?.cells[{column}].textContent")


def hidden(name):
    return f"document.getElementById({json.dumps(name)}).hidden"


def a_browser_shows_it(place):
    path()
    node = Node(place)
    node.program.do("record 2 10")
    with Browser(place, "--window-size=1280,900") as browser:
        browser.open(f"http://127.0.0.1:{node.port}/")
        wait_for("the total", lambda: browser.run(cell("scrape.events-done", 6)) == "20")
        node.program.do("record 2 10")
        wait_for("the new one", lambda: browser.run(cell("scrape.events-done", 6)) == "40")
        # any text is text
        contains(browser.run("document.getElementById('node').textContent"), MARKUP)
        contains(browser.run("document.getElementById('series').textContent"), "a\"b\\c\nd")
        equal(browser.run("document.querySelectorAll('img').length"), 0)
        equal(browser.run("document.title").startswith(MARKUP), True)
        # what is typed is searched for, and Escape leaves the field
        browser.press("/")
        for letter in "message":
            browser.press(letter)
        rows = "document.querySelectorAll('#series tbody tr').length"
        wait_for("one row", lambda: browser.run(rows) == 1)
        browser.press("Escape")
        a_row_has_its_detail(browser, node)
        browser.press("p")
        shown = browser.run("document.getElementById('about').textContent")
        node.program.do("record 1 1")
        browser.press("t")
        equal(browser.run("document.documentElement.dataset.theme") in ("light", "dark"), True)
        equal(browser.run("document.getElementById('about').textContent"), shown, "while paused")
        browser.press("p")
        browser.picture(place.folder / "live.png")
        equal(browser.complaints, [])
        node.program.kill()
        wait_for("a word of the end", lambda: browser.run(hidden("lost")) is False)
        contains(browser.run("document.getElementById('lost').textContent"), "does not answer")
        equal(browser.run(rows), 1, "what is shown stays")


def a_row_has_its_detail(browser, node):
    """By the keyboard; and values that come are painted."""
    browser.press("j")
    browser.press("Enter")
    wait_for("the detail", lambda: browser.run("document.getElementById('detail-name').textContent")
             == "scrape.message-size, a histogram in bytes")
    equal(browser.run(hidden("detail-box")), False)
    painted = ("(() => { const heat = document.getElementById('heat'); return heat.getContext('2d')"
               ".getImageData(0, 0, heat.width, heat.height).data.some(byte => byte !== 0); })()")

    def seen():
        node.program.do("record 1 1")
        return browser.run(painted)

    wait_for("a heat map", seen, pause_s=1)
    equal(browser.run(hidden("heat-box")), False)


if __name__ == "__main__":
    main([what_the_paths_give, series_are_chosen, wrong_requests_are_refused,
          many_series_are_little_to_send, a_browser_shows_it], servers=())
