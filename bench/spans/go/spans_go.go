// SPDX-License-Identifier: Apache-2.0

// A side of the bench of spans: OpenTelemetry's Go SDK with its batch processor. Reads lines and
// answers as bench/spans/rust does: nanoseconds of the measuring thread a span, of the whole
// process a span, spans made, spans that the exporter was given. The exporter counts and discards.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sys/unix"
)

const (
	children = 100
	peer     = "10.0.0.7:40400"
)

type counted struct{ taken atomic.Int64 }

func (c *counted) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	c.taken.Add(int64(len(spans)))
	return nil
}

func (c *counted) Shutdown(context.Context) error { return nil }

func clockNs(clock int32) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		panic(err)
	}
	return now.Nano()
}

func span(tracer trace.Tracer, under context.Context, name string, height int) trace.Span {
	_, made := tracer.Start(under, name, trace.WithAttributes(
		attribute.String("peer", peer), attribute.Int("height", height)))
	return made
}

func round(tracer trace.Tracer, shape string, count int) int {
	background := context.Background()
	switch shape {
	case "alone":
		for i := range count {
			span(tracer, background, "casper.block", i).End()
		}
	case "texts":
		for range count {
			_, made := tracer.Start(background, "casper.block", trace.WithAttributes(
				attribute.String("peer", peer), attribute.String("height", "1234567")))
			made.End()
		}
	default:
		traces := (count + children) / (children + 1)
		for range traces {
			under, root := tracer.Start(background, "casper.block", trace.WithAttributes(
				attribute.String("peer", peer), attribute.Int("height", 0)))
			for i := range children {
				span(tracer, under, "casper.deploy", i).End()
			}
			root.End()
		}
		return traces * (children + 1)
	}
	return count
}

func main() {
	runtime.LockOSThread()
	exporter := &counted{}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	tracer := provider.Tracer("bench")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var shape string
		var count int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d", &shape, &count); err != nil {
			panic(err)
		}
		exporter.taken.Store(0)
		process := clockNs(unix.CLOCK_PROCESS_CPUTIME_ID)
		from := clockNs(unix.CLOCK_THREAD_CPUTIME_ID)
		made := round(tracer, shape, count)
		thread := clockNs(unix.CLOCK_THREAD_CPUTIME_ID) - from
		if err := provider.ForceFlush(context.Background()); err != nil {
			panic(err)
		}
		whole := clockNs(unix.CLOCK_PROCESS_CPUTIME_ID) - process
		fmt.Printf("%.2f %.2f %d %d\n", float64(thread)/float64(made),
			float64(whole)/float64(made), made, exporter.taken.Load())
	}
}
