#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# crest-test: timeout=480 go-servers
"""A program with several threads sends to statsd_exporter and to Telegraf, with the options that
docs/statsd.md gives for each. Totals and counts must be equal to the last unit.
"""

import re

from goservers import StatsdExporter, Telegraf, main
from harness import Failure, Program, contains, equal, wait_for
from test_statsd import KINDS, TAGS, Totals, check_quantiles, rank

# Small enough for an empty socket, however long a busy machine lets a server wait.
RECORDS = ((8, 100), (3, 177), (1, 1))


def send(place, server, totals, arrived, *options):
    """Some reports: the program makes each when it has counted the previous one, and stays on."""
    program = Program(place, "statsd_program", f"udp://127.0.0.1:{server.statsd_port}", *options)
    contains(program.begun, "OK")
    for threads, times in RECORDS:
        totals.record(program, threads, times)
        program.do("push")
        wait_for("all events", lambda: arrived() == totals.events)
    return program


def samples(page):
    """{name and labels: value} of a page."""
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def statsd_exporter_gets_everything(place):
    server = StatsdExporter(place).start()
    totals = Totals()
    program = send(place, server, totals,
                   lambda: samples(server.page()).get("etsy_events_done"), "dialect=datadog")
    program.do("stop")

    def all_of_it():
        found = samples(server.page())
        return found if found.get("etsy_message_size_count") == len(totals.sizes) else None

    found = wait_for("all sizes", all_of_it)
    for tag, count in zip(TAGS, totals.kinds):
        equal(found[f'etsy_kinds_seen{{kind="{tag}"}}'], count, tag)
    equal(round(found["etsy_busy_time"], 6), round(totals.events * 0.3, 6), "seconds busy")
    equal(found["etsy_level"], -7.25, "a negative gauge")
    equal(found["etsy_balance"], totals.balance, "a gauge added to")
    equal(found["etsy_waiting"], 5 * len(RECORDS), "a range sampler")
    for outcome, values in totals.work.items():
        equal(found[f'etsy_work_time_count{{outcome="{outcome}"}}'], len(values), outcome)
    for name in ("statsd_exporter_sample_errors_total", "statsd_exporter_tag_errors_total",
                 "statsd_exporter_events_conflict_total"):
        wrong = {key: value for key, value in found.items() if key.startswith(name) and value}
        equal(wrong, {}, "what it could not read")


def telegraf_gets_everything(place):
    server = Telegraf(place).start()
    totals = Totals()

    def field(name, field="value"):
        for key, fields in server.fields():
            if re.match(re.escape(name) + r"(,|$)", key):
                return fields[field]
        return None

    program = send(place, server, totals, lambda: field("etsy.events-done"), "samples=100000")
    for kind, count in zip(KINDS, totals.kinds):
        equal(field(f"etsy.kinds-seen.kind.{kind}"), count, kind)
    equal(field("etsy.busy-time"), totals.events * 3 // 10, "whole seconds busy")
    equal(field("etsy.level"), -7.25, "a negative gauge")
    equal(field("etsy.balance"), totals.balance, "a gauge added to")
    equal(field("etsy.nowhere"), None, "infinity")
    for name, values in totals.distributions().items():
        wait_for(f"all of {name}", lambda: field(name, "count") == len(values))
        equal((field(name, "lower"), field(name, "upper")), (min(values), max(values)), name)
        for quantile in (50, 90, 99):
            check_rank(name, field(name, f"{quantile}_percentile"), values, quantile / 100)
    program.do("stop")


def check_rank(name, found, recorded, quantile):
    """Within one bucket of 1 % and 3 ranks in 1,000."""
    low = rank(recorded, max(quantile - 0.003, 0)) * 0.99
    high = rank(recorded, min(quantile + 0.003, 1)) * 1.01
    if not low <= found <= high:
        raise Failure(f"{name}: quantile {quantile}: {found}, wanted {low} to {high}")


def telegraf_reads_datadog_tags(place):
    server = Telegraf(place, datadog=True).start()
    totals = Totals()
    values = {}

    def gather():
        """The last values; those of distributions are there once, so that they are kept here."""
        for key, fields in server.fields():
            values.setdefault(key, []).append(fields["value"])
        return {key: found[-1] for key, found in values.items()}

    program = send(place, server, totals,
                   lambda: gather().get("etsy.events_done,metric_type=counter"),
                   "dialect=datadog", "unpacked=1", "whole_seconds=1", "no_rates=1")
    found = gather()
    for tag, count in zip(TAGS, totals.kinds):
        # its reader cuts the last tag within a last character of several bytes
        read = tag.replace("é", "\ufffd")
        equal(found[f"etsy.kinds_seen,kind={read},metric_type=counter"], count, tag)
    equal(found["etsy.busy_time,metric_type=counter"], totals.events * 3 // 10, "seconds busy")
    equal(found["etsy.level,metric_type=gauge"], -7.25, "a negative gauge")
    check_quantiles("sizes", totals.sizes, values["etsy.message_size,metric_type=distribution"])
    program.do("stop")


if __name__ == "__main__":
    main([statsd_exporter_gets_everything, telegraf_gets_everything, telegraf_reads_datadog_tags],
         "statsd_exporter", "telegraf")
