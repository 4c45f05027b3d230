module crest.invalid/tests/servers/pushgateway

go 1.25.0

require github.com/prometheus/pushgateway v1.11.1
