// SPDX-License-Identifier: Apache-2.0

//! Two sides of the bench of spans: fastrace, and OpenTelemetry's SDK with its batch processor.
//! The argument says which. Reads lines and answers each with nanoseconds of the measuring thread
//! a span, of the whole process a span, and how many spans the exporter was given:
//!
//! * `alone N`: N traces of one span with two attributes, a text and a number;
//! * `texts N`: the same with two constant texts, which fastrace takes without memory of its own;
//! * `tree N`: traces of a root and a hundred children with two attributes, N spans or some more.
//!
//! The exporters count and discard. What was recorded is flushed after the thread's time was taken.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::LocalSpan;
use opentelemetry::trace::{Span, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter,
};

const CHILDREN: u64 = 100;
const PEER: &str = "10.0.0.7:40400";

static TAKEN: AtomicU64 = AtomicU64::new(0);

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is the caller's and outlives the call.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

struct Discarded;

impl Reporter for Discarded {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        TAKEN.fetch_add(spans.len() as u64, Relaxed);
    }
}

fn fastrace_tree() {
    let root = fastrace::Span::root("casper.block", SpanContext::random())
        .with_properties(|| [("peer", PEER), ("height", "0")]);
    let _scope = root.set_local_parent();
    for height in 0..CHILDREN {
        let _child = LocalSpan::enter_with_local_parent("casper.deploy").with_properties(|| {
            [("peer", std::borrow::Cow::Borrowed(PEER)), ("height", height.to_string().into())]
        });
    }
}

fn fastrace_round(shape: &str, count: u64) -> u64 {
    match shape {
        "alone" => (0..count).for_each(|height| {
            let _span = fastrace::Span::root("casper.block", SpanContext::random())
                .with_properties(|| {
                    [
                        ("peer", std::borrow::Cow::Borrowed(PEER)),
                        ("height", height.to_string().into()),
                    ]
                });
        }),
        "texts" => (0..count).for_each(|_| {
            let _span = fastrace::Span::root("casper.block", SpanContext::random())
                .with_properties(|| [("peer", PEER), ("height", "1234567")]);
        }),
        _ => {
            let traces = count.div_ceil(CHILDREN + 1);
            (0..traces).for_each(|_| fastrace_tree());
            return traces * (CHILDREN + 1);
        }
    }
    count
}

#[derive(Debug)]
struct Counted;

impl SpanExporter for Counted {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        TAKEN.fetch_add(batch.len() as u64, Relaxed);
        Ok(())
    }
}

fn otel_attributes(height: u64) -> [KeyValue; 2] {
    [KeyValue::new("peer", PEER), KeyValue::new("height", height as i64)]
}

fn otel_span(tracer: &SdkTracer, name: &'static str, height: u64, under: &Context) {
    let builder = tracer.span_builder(name).with_attributes(otel_attributes(height));
    tracer.build_with_context(builder, under).end();
}

fn otel_round(tracer: &SdkTracer, shape: &str, count: u64) -> u64 {
    let none = Context::new();
    match shape {
        "alone" => (0..count).for_each(|i| otel_span(tracer, "casper.block", i, &none)),
        "texts" => (0..count).for_each(|_| {
            let builder = tracer
                .span_builder("casper.block")
                .with_attributes([KeyValue::new("peer", PEER), KeyValue::new("height", "1234567")]);
            tracer.build_with_context(builder, &none).end();
        }),
        _ => {
            let traces = count.div_ceil(CHILDREN + 1);
            for _ in 0..traces {
                let builder =
                    tracer.span_builder("casper.block").with_attributes(otel_attributes(0));
                let root = none.with_span(tracer.build_with_context(builder, &none));
                (0..CHILDREN).for_each(|i| otel_span(tracer, "casper.deploy", i, &root));
                root.span().end();
            }
            return traces * (CHILDREN + 1);
        }
    }
    count
}

fn answer(mut round: impl FnMut(&str, u64) -> u64, flush: impl Fn()) {
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line");
        let (shape, count) = line.split_once(' ').expect("a shape and a number");
        let count: u64 = count.parse().expect("a number");
        TAKEN.store(0, Relaxed);
        let process = clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID);
        let from = clock_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        let made = round(shape, count);
        let thread = clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) - from;
        flush();
        let whole = clock_ns(libc::CLOCK_PROCESS_CPUTIME_ID) - process;
        println!(
            "{:.2} {:.2} {} {}",
            thread as f64 / made as f64,
            whole as f64 / made as f64,
            made,
            TAKEN.load(Relaxed)
        );
        std::io::stdout().flush().expect("a reader");
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("fastrace") {
        fastrace::set_reporter(Discarded, Config::default());
        answer(fastrace_round, fastrace::flush);
    } else {
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(Counted).build())
            .build();
        let tracer = provider.tracer("bench");
        answer(
            |shape, count| otel_round(&tracer, shape, count),
            || {
                provider.force_flush().expect("a flush");
            },
        );
    }
}
