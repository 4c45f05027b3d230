# SPDX-License-Identifier: Apache-2.0
"""Asks Prometheus over its HTTP interface, and nothing else: what the demo shows, it has from here.

    prometheus = promql.Client("http://127.0.0.1:9090")
    prometheus.by("instance", "rchain_comm_rp_connect_peers")      # {"node-0": 3.0, ...}
"""

import http.client
import json
import math
import urllib.error
import urllib.parse
import urllib.request

ANSWER_S = 30
ANSWER_SHOWN_BYTES = 300

# A proxy in the environment must not stand between this program and its own servers.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Refused(Exception):
    """Prometheus did not answer, or not with figures; says what was asked and what came back."""


class Client:
    def __init__(self, url):
        self.url = url
        self.moment = None  # of instant queries that name none: now

    def settle(self, seconds):
        """From here on all is asked of one moment: now; or, where the newest scrape took longer
        than it may and every series is gone until the next, that of the last good one of so many
        seconds."""
        good = f"max_over_time(timestamp(up == 1)[{seconds}s:1s])"
        self.moment = None if self.one("up") == 1 else self.one(good)

    def ask(self, path, **parameters):
        """The data of one answer."""
        target = f"{self.url}/api/v1/{path}"
        body = urllib.parse.urlencode(parameters, doseq=True).encode()
        asked = ", ".join(f"{key}={value}" for key, value in parameters.items())
        try:
            with OPENER.open(target, data=body, timeout=ANSWER_S) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            words = error.read(ANSWER_SHOWN_BYTES).decode(errors="replace")
            raise Refused(f"Prometheus refused {target} ({asked}): {error.code} {words}") from error
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            raise Refused(f"No answer from Prometheus at {target} ({asked}) within {ANSWER_S} s: "
                          f"{error}. Its log is beside its data, below build/demo.") from error

    def instant(self, query, at=None):
        """[(labels, value)]; values that are not numbers (0 / 0) are left out."""
        at = self.moment if at is None else at
        parameters = {"query": query} if at is None else {"query": query, "time": f"{at:.3f}"}
        found = [(series["metric"], float(series["value"][1]))
                 for series in self.ask("query", **parameters)["result"]]
        return [(labels, value) for labels, value in found if math.isfinite(value)]

    def by(self, label, query, at=None):
        """{value of the label: figure}."""
        return {labels.get(label, ""): value for labels, value in self.instant(query, at)}

    def one(self, query, at=None):
        """The figure of a query that has one; None when there is none."""
        found = self.instant(query, at)
        if len(found) > 1:
            raise Refused(f"{query}: one series was expected, there are {len(found)}")
        return found[0][1] if found else None

    def samples(self, selector, seconds):
        """[(labels, [(time, value)])]: what was really scraped, nothing computed."""
        data = self.ask("query", query=f"{selector}[{seconds}s]")
        return [(series["metric"], [(time, float(value)) for time, value in series["values"]])
                for series in data["result"]]

    def curves(self, query, start, end, step=1):
        """[(labels, [(time, value)])] of a range query."""
        data = self.ask("query_range", query=query, start=f"{start:.3f}", end=f"{end:.3f}",
                        step=str(step))
        found = []
        for series in data["result"]:
            points = [(time, float(value)) for time, value in series["values"]]
            found.append((series["metric"], [p for p in points if math.isfinite(p[1])]))
        return found
