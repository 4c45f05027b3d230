#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480
"""Protobuf pages, with native histograms: read by protoc, which makes the same bytes of them again;
by a real Prometheus, which has to know the same values as from the text page; and by a real
Pushgateway and the Prometheus behind it.
"""

import math
import re
import urllib.request

import harness
import protobuflib
from harness import Failure, Program, Pushgateway, equal, holds_at_last
from protobuflib import families_of, labels_of, native_buckets
from pushlib import Totals as Pushed
from test_scrape import SIZES, WORK_NS, Node, Scraper, Totals

GOLDEN = sorted((harness.ROOT / "tests/golden").glob("*.pb"))
FACTOR = 2 ** (1 / 8)


def page_of(node, accept=protobuflib.ACCEPT):
    """Its content type and its bytes."""
    request = urllib.request.Request(f"http://127.0.0.1:{node.port}/metrics",
                                     headers={"Accept": accept})
    with harness.OPENER.open(request, timeout=harness.ANSWER_S) as answer:
        return answer.headers["Content-Type"], answer.read()


def text_samples(page):
    """{line up to its value: value} of a text page."""
    page = re.sub(r'le="([^"]*)"', lambda le: f'le="{float(le.group(1))}"', page.decode())
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def escaped(value):
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def series_name(name, labels):
    inner = ",".join(f'{key}="{escaped(value)}"' for key, value in labels.items())
    return f"{name}{{{inner}}}" if inner else name


def samples_of(families):
    """As text_samples, of what a text page has too."""
    found = {}
    for name, family in families.items():
        for metric in family["metric"]:
            labels = labels_of(metric)
            for kind in ("counter", "gauge"):
                if kind in metric:
                    found[series_name(name, labels)] = metric[kind][0]["value"][0]
            for histogram in metric.get("histogram", []):
                count = histogram["sample_count"][0]
                found[series_name(name + "_count", labels)] = count
                found[series_name(name + "_sum", labels)] = histogram["sample_sum"][0]
                for bucket in histogram.get("bucket", []):
                    le = {"le": str(float(bucket["upper_bound"][0]))}
                    found[series_name(name + "_bucket", {**labels, **le})] = \
                        bucket["cumulative_count"][0]
                if histogram.get("bucket"):
                    found[series_name(name + "_bucket", {**labels, "le": "inf"})] = count
    return found


def check_native(families):
    """Each histogram: buckets that come to its count, within the limit. How many there are."""
    found = 0
    for name, family in families.items():
        for metric in family["metric"]:
            for histogram in metric.get("histogram", []):
                if "schema" not in histogram:
                    continue
                buckets = native_buckets(histogram)
                total = histogram["zero_count"][0] + sum(count for _, _, count in buckets)
                equal(total, histogram["sample_count"][0], name)
                equal(len(buckets) <= 160, True, f"{name}: {len(buckets)} buckets")
                found += 1
    return found


def golden_pages_are_read(place):
    equal(len(GOLDEN) >= 2, True, "golden pages")
    for path in GOLDEN:
        families = families_of(path.read_bytes())
        equal(len(families) > 0, True, path.name)


def a_page_has_what_the_text_has(place):
    node = Node(place, options=",prometheus.gzip=off")
    Totals().record(node, 4, 5000)
    node.do("many 3000")  # a family longer than a piece
    content_type, page = page_of(node)
    equal(content_type, protobuflib.CONTENT_TYPE)
    families = families_of(page)
    _, text = page_of(node, "text/plain")
    wanted, found = text_samples(text), samples_of(families)
    own = ("crest_", "process_", "host_", "scrape_step", "scrape_queue_depth_")
    differ = {name for name in wanted.keys() | found.keys()
              if not name.startswith(own) and
              float(found.get(name, math.nan)) != wanted.get(name, math.nan)}
    equal(differ, set(), "what differs from the text page")
    equal(sum(name.startswith("scrape_many") for name in found), 3000)
    if check_native(families) < 8:
        raise Failure("too few native histograms")
    sizes = families["scrape_message_size_bytes"]
    equal(sizes["unit"], ["bytes"])
    equal(sizes["type"], ["HISTOGRAM"])
    equal(families["scrape_level"]["metric"][0]["gauge"][0]["value"][0], -7.25)
    created = sizes["metric"][0]["histogram"][0]["created_timestamp"][0]["seconds"][0]
    equal(families["scrape_events_done_total"]["metric"][0]["counter"][0]["created_timestamp"][0]
          ["seconds"][0] <= created, True, "created")
    work = families["scrape_work_time_seconds"]["metric"][0]["histogram"][0]
    equal(work["schema"], [3])
    equal(len(native_buckets(work)), len(WORK_NS))
    for lower, upper, _ in native_buckets(work):
        equal(any(lower < value / 1e9 * 1.005 and value / 1e9 / 1.005 < upper
                  for value in WORK_NS), True, f"a bucket from {lower} to {upper}")
    ratio = len(page) / len(text)
    print(f"     the protobuf page has {ratio:.2f} of the text page's bytes")


def options_say_what_is_native(place):
    pages = {}
    for mode in ("on", "off", "only"):
        node = Node(place, options=f",prometheus.gzip=off,prometheus.native={mode},"
                                   "prometheus.native.factor=2,prometheus.native.buckets=10")
        Totals().record(node, 2, 500)
        pages[mode] = families_of(page_of(node)[1])
    for mode, families in pages.items():
        for family in families.values():
            for metric in family["metric"]:
                for histogram in metric.get("histogram", []):
                    equal("schema" in histogram, mode != "off", f"{mode}: native")
                    equal("bucket" in histogram, mode != "only", f"{mode}: classic")
                    equal(histogram.get("schema", [0])[0] <= 0, True, f"{mode}: schema")
    for options, part in ((",prometheus.native=perhaps", "prometheus.native"),
                          (",prometheus.native.factor=1", "prometheus.native.factor"),
                          (",prometheus.native.factor=1e9", "prometheus.native.factor"),
                          (",prometheus.native.factor=1.5x", "1.5x"),
                          (",prometheus.native.buckets=9", "prometheus.native.buckets"),
                          (",prometheus.native.buckets=10.5", "prometheus.native.buckets"),
                          (",prometheus.native.buckets=501", "prometheus.native.buckets")):
        program = harness.Program(place, "scrape_program", f"prometheus=127.0.0.1:0{options}")
        harness.contains(program.begun, part)
        harness.lacks(program.begun, "OK http")


def absurd_requests_get_text(place):
    node = Node(place)
    for accept in (protobuflib.ACCEPT + ";q=1e9", protobuflib.ACCEPT + ";q=-1",
                   protobuflib.ACCEPT + ";q=0.0001", protobuflib.ACCEPT.replace("del", "dell"),
                   "application/vnd.google.protobuf", "application/vnd.google.protobuf;q=1,*/*",
                   "," * 8150 + protobuflib.ACCEPT, '"' * 8192, ";" * 8192):
        content_type, page = page_of(node, accept)
        harness.contains(content_type, "text/plain")
        harness.contains(page.decode(), "# TYPE")
    for escaping in ("allow-utf-8", "underscores", "values"):
        content_type, _ = page_of(node, f"{protobuflib.ACCEPT};escaping={escaping}")
        equal(content_type, f"{protobuflib.CONTENT_TYPE}; escaping={escaping}")
    equal(page_of(node, protobuflib.ACCEPT + ";escaping=dots")[0], protobuflib.CONTENT_TYPE)


def check_quantile(prometheus, query, values, q):
    """Within one native bucket of the value that it is."""
    ordered = sorted(values)
    wanted = ordered[max(0, math.ceil(q * len(ordered)) - 1)]
    found = prometheus.number(query)
    if not wanted / FACTOR / 1.005 <= found <= wanted * FACTOR * 1.005:
        raise Failure(f"{query}: {found}, wanted about {wanted}")


def check_what_is_known(place, prometheus_of):
    """One series a histogram, and by its query functions the counts, sums and quantiles."""
    node = Node(place)
    prometheus = prometheus_of(place, node).start()
    totals = Totals()
    totals.record(node, 4, 5000)
    sizes = [value for count, value in zip(totals.sizes, SIZES) for _ in range(count)]
    name = "scrape_message_size_bytes"
    prometheus.check_value("scrape_events_done_total", totals.events)
    prometheus.check_value(f"histogram_count({name})", len(sizes))
    prometheus.check_value(f"histogram_sum({name})", sum(sizes))
    for outcome, counts in totals.work.items():
        work = f'scrape_work_time_seconds{{outcome="{outcome}"}}'
        prometheus.check_value(f"histogram_count({work})", sum(counts))
        prometheus.check_value(f"histogram_sum({work})",
                               sum(n * v for n, v in zip(counts, WORK_NS)) / 1e9)
        values = [value / 1e9 for count, value in zip(counts, WORK_NS) for _ in range(count)]
        for q in (0.05, 0.5, 0.75, 0.95, 0.99):
            check_quantile(prometheus, f"histogram_quantile({q}, {work})", values, q)
    for q in (0.1, 0.5, 0.9, 0.99):
        check_quantile(prometheus, f"histogram_quantile({q}, {name})", sizes, q)
    equal(prometheus.value('count({__name__=~"scrape_message_size_bytes.*"})'), 1, "series")
    prometheus.check_value('sum(up)', 1)
    # Buckets that only grow, schema or not: a rate over scrapes in which more was recorded.
    for _ in range(3):
        totals.record(node, 2, 700)
        prometheus.check_value(f"histogram_count({name})", sum(totals.sizes))


def prometheus_knows_the_same(place):
    check_what_is_known(place, lambda place, node: Scraper(place, [node],
                                                           features="native-histograms"))


def prometheus_without_native_sees_classic_ones(place):
    """The same node, to one that does not ask for protobuf."""
    node = Node(place)
    prometheus = Scraper(place, [node]).start()
    totals = Totals()
    totals.record(node, 2, 1000)
    totals.check(prometheus)


def check_pushes(place, gateway, prometheus_of):
    """What the gateway shows, and what a Prometheus behind it knows."""
    gateway.start()
    pusher = Program(place, "push_program", "start",
                    f"pushgateway={gateway.url},pushgateway.job=native,pushgateway.instance=a,"
                    "pushgateway.protobuf=on,pushgateway.interval=1s")
    totals = Pushed()
    totals.record(pusher, 4, 2000)
    holds_at_last(lambda: harness.contains(
        gateway.page(), f"push_message_size_bytes_count{{instance=\"a\",job=\"native\"}} "
                        f"{sum(totals.sizes)}"))
    native = prometheus_of(place, gateway).start()
    native.check_value("histogram_count(push_message_size_bytes)", sum(totals.sizes))
    native.check_value("push_message_size_bytes_count or vector(0)", 0)
    pusher.do("stop")


def a_gateway_takes_pushes(place):
    def prometheus_of(place, gateway):
        return Scraper(place, [gateway], features="native-histograms", job=(
            "- job_name: gateway\n  honor_labels: true\n  static_configs: [{targets: ["
            f"'127.0.0.1:{gateway.port}']}}]\n"))

    check_pushes(place, Pushgateway(place), prometheus_of)


if __name__ == "__main__":
    harness.main([golden_pages_are_read, a_page_has_what_the_text_has, options_say_what_is_native,
                  absurd_requests_get_text, prometheus_knows_the_same,
                  prometheus_without_native_sees_classic_ones, a_gateway_takes_pushes])
