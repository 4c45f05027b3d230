module crest.invalid/tests/servers/statsd_exporter

go 1.25.0

require github.com/prometheus/statsd_exporter v0.31.0
