module crest.invalid/tests/servers/victoriametrics

go 1.25.4

require github.com/VictoriaMetrics/VictoriaMetrics v1.131.0
