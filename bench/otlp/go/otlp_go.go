// SPDX-License-Identifier: Apache-2.0

// The other side of the bench of OTLP: the Go SDK's own instruments, of which it makes
// ResourceMetrics (collected once, as a snapshot), and then times what its exporter does with them:
// the transform into protobuf's messages and their marshalling; no network.
// Its arguments are the shape (counters, short or long) and the number of series.
// Reads lines and answers each with nanoseconds a point (otlp) or bytes a point (bytes).
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"crest/bench/otlp/transform"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"google.golang.org/protobuf/proto"
)

func processNs() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return syscall.TimevalToNsec(usage.Utime) + syscall.TimevalToNsec(usage.Stime)
}

func fill(meter metric.Meter, shape string, count int) {
	kinds := []string{"block", "deploy", "ping", "vote"}
	counter, _ := meter.Int64Counter("bench.messages", metric.WithDescription("Messages sent."))
	histogram, _ := meter.Float64Histogram("bench.latency", metric.WithUnit("s"),
		metric.WithDescription("From question to answer."))
	random := uint64(88172645463325252)
	for i := range count {
		labels := metric.WithAttributes(
			attribute.String("peer", fmt.Sprintf("10.%d.%d.%d:40400", i>>16&255, i>>8&255, i&255)),
			attribute.String("kind", kinds[i%4]))
		if shape == "counters" {
			counter.Add(context.Background(), int64(i)*7919%100003+1, labels)
			continue
		}
		low, high := int64(5000000), int64(20000000)
		if shape == "long" {
			low, high = 1000000, 1000000000
		}
		for range 2000 {
			random ^= random << 13
			random ^= random >> 7
			random ^= random << 17
			ns := low + int64(random%uint64(high-low))
			histogram.Record(context.Background(), float64(ns)/1e9, labels)
		}
	}
}

func encode(collected *metricdata.ResourceMetrics) int {
	message, err := transform.ResourceMetrics(collected)
	if err != nil {
		panic(err)
	}
	body, err := proto.Marshal(message)
	if err != nil {
		panic(err)
	}
	return len(body)
}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithCardinalityLimit(0),
		sdk.WithView(sdk.NewView(sdk.Instrument{Kind: sdk.InstrumentKindHistogram},
			sdk.Stream{Aggregation: sdk.AggregationBase2ExponentialHistogram{
				MaxSize: 160, MaxScale: 3}})))
	fill(provider.Meter("bench"), os.Args[1], count)
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if lines.Text() == "bytes" {
			fmt.Printf("%.1f\n", float64(encode(&collected))/float64(count))
			continue
		}
		best := int64(1) << 62
		for range 7 {
			from := processNs()
			encode(&collected)
			best = min(best, processNs()-from)
		}
		fmt.Printf("%.1f\n", float64(best)/float64(count))
	}
}
