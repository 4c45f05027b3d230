# SPDX-License-Identifier: Apache-2.0
"""The rooms of src/ and reporters/, bottom to top: an arrow may only go down.

check_layering holds the tree to this list, and scripts/make-map draws it into the documentation.
"""

# (room, what it has); a file may use files of its own room and of those above its line here.
SRC = [
    ("base", "memory, lock, numbers, text, misuse, sync, fork, leavable; no metric"),
    ("clock", "time: the counter of the processor made nanoseconds, the wall, clocks of tests"),
    ("state", "the file that keeps cells and names over a kill: format, writer, raw reader"),
    ("wire", "bytes of Protocol Buffers, streamed; knows no metric"),
    ("names", "which names are valid, look alike, what is exported and derived; pure"),
    ("cells", "where values live: slots, threads' tables, shards; sums of cells"),
    ("distributions", "shards read back: counts, quantiles, merges, buckets classic and native"),
    ("hdr", "distributions as HdrHistogram's bytes, both ways"),
    ("metrics", "what a metric, a series and a handle are made of: claims, kinds, slots, notes"),
    ("registry", "what exists: metrics and children made, found and ended; room that grows"),
    ("spans", "timings as spans: ids and their texts, threads' rings, which timers are traced"),
    ("instruments", "from a declaration, a name or labels to a handle; cold paths of recording"),
    ("in_flight", "operations begun by an id, and the end of series, which settles them"),
    ("profiling", "where threads spend their time: signals, stacks, operations, pprof"),
    ("events", "events: declared, written into threads' rings, read by any process"),
    ("polls", "values fetched by callback, and the thread that calls"),
    ("snapshot", "what is now: directory, values, deltas, filters"),
    ("windows", "what was lately: ticker, rates, peaks, averages; takes the whole snapshot"),
    ("page", "snapshot in, Prometheus pages out: text, OpenMetrics, protobuf"),
    ("otlp", "snapshot in, OTLP bodies out: protobuf, JSON"),
    ("remains", "values of a state file, of a process that lives or is dead"),
    ("reporting", "reporters' threads, schedules, deadlines"),
    ("tracing", "spans collected, kept by rule, handed out in batches"),
    ("system", "collectors of process, host and cgroup: parse, host, cgroup"),
    ("latency", "probes, peers' clocks, local hiccups and timed calls"),
    ("testing", "the test kit that users get"),
    ("adopt", "what dead runs counted goes on: read, committed once"),
    ("run", "options, plan, start, stop, freeing a registry"),
]

# (room of reporters/, what it has, which other rooms of reporters/ it may use)
REPORTERS = [
    ("common", "shown text, decimals, packets, output with a deadline, files replaced", ()),
    ("http", "one HTTP client, and what a failed request means", ("common",)),
    ("pushgateway", "pushes pages to a Pushgateway", ("common", "http")),
    ("otlp", "sends OpenTelemetry's metrics over HTTP, and reads its environment",
     ("common", "http")),
    ("zipkin", "sends spans to Zipkin over HTTP", ("common", "http")),
    ("json", "writes reports and spans as lines of JSON", ("common",)),
    ("events", "writes events as lines of text and of JSON", ("common",)),
    ("scrape", "serves pages to Prometheus, and the last spans", ("common", "json")),
    ("live", "serves the live page to browsers on the machine", ("common", "json", "scrape")),
    ("profile", "serves profiles to pprof, has them sent by OTLP", ("common", "scrape", "otlp")),
    ("statsd", "sends packets of StatsD over UDP, TCP and Unix sockets", ("common",)),
    ("influxdb", "sends lines to InfluxDB over HTTP and UDP", ("common", "http")),
    ("hlog", "writes reports as HdrHistogram's logs, and reads such logs", ("common",)),
    ("console", "shows a report as a table in a terminal", ("common", "json")),
    ("textfile", "writes pages for node_exporter's textfile collector", ("common",)),
]

SRC_RANK = {name: rank for rank, (name, _) in enumerate(SRC)}
REPORTERS_MAY_USE = {name: may for name, _, may in REPORTERS}
