// SPDX-License-Identifier: Apache-2.0
//! A side of the comparison: says which benchmarks it has, runs all of them once when it is told
//! to, and in the end checks what they left behind. What bench/side/side.h is to C++.

use crate::processors;
use crate::workload_files::Workload;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Does `times` operations on the given object, as the thread of that number.
pub type Loop = Arc<dyn Fn(Who, u64) + Send + Sync>;

/// Which of the objects a loop is to use, and which of the threads uses it.
#[derive(Clone, Copy)]
pub struct Who {
    pub object: usize,
    pub thread: usize,
}

/// Operations asked of each object.
pub type Asked = Arc<Vec<AtomicU64>>;

/// How a loop is run.
#[derive(Clone, Copy)]
pub struct Plan {
    pub times: u64,
    /// Taken in turn; several threads apart have one each.
    pub objects: usize,
    pub same: bool,
    pub separate: bool,
}

struct Benchmark {
    id: String,
    threads: usize,
    same: bool,
    plan: Plan,
    body: Loop,
    asked: Asked,
    after: Option<Arc<dyn Fn() + Send + Sync>>,
}

type Total = Box<dyn Fn() -> u64>;

pub struct Side {
    name: &'static str,
    only: regex_lite::Regex,
    pub given: &'static Workload,
    versions: Vec<(String, String)>,
    missing: Vec<(String, String)>,
    benchmarks: Vec<Benchmark>,
    expectations: Vec<(String, Total, Total)>,
}

fn quoted(text: &str) -> String {
    let kept: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if (c as u32) < 0x20 => " ".into(),
            c => c.into(),
        })
        .collect();
    format!("\"{kept}\"")
}

impl Side {
    /// Takes --inputs=DIR and --only=REGEX; exits with 2 without inputs.
    pub fn new(name: &'static str, arguments: impl Iterator<Item = String>) -> Side {
        let (mut inputs, mut only) = (None, ".".to_string());
        for argument in arguments {
            if let Some(folder) = argument.strip_prefix("--inputs=") {
                inputs = Some(folder.to_string());
            } else if let Some(pattern) = argument.strip_prefix("--only=") {
                only = pattern.to_string();
            }
        }
        let Some(inputs) = inputs else {
            eprintln!("usage: {name} --inputs=DIR [--only=REGEX]; `make bench` starts it");
            std::process::exit(2);
        };
        let only = regex_lite::Regex::new(&only).unwrap_or_else(|error| {
            eprintln!("--only: {error}");
            std::process::exit(2);
        });
        Side {
            name,
            only,
            given: Workload::read(inputs.as_ref()),
            versions: vec![],
            missing: vec![],
            benchmarks: vec![],
            expectations: vec![],
        }
    }

    pub fn version(&mut self, what: &str, which: &str) {
        self.versions.push((what.into(), which.into()));
    }

    /// A benchmark that cannot be run here, and why, in a sentence.
    pub fn missing(&mut self, id: &str, why: &str) {
        if self.only.is_match(id) {
            self.missing.push((id.into(), why.into()));
        }
    }

    /// Threads that are at once in any benchmark here, and so objects of their own.
    pub fn threads_most(&self) -> usize {
        let here = processors::processors();
        self.given.threads.iter().copied().filter(|n| *n <= here).max().unwrap_or(1)
    }

    /// A loop with one and with several threads; `id` is PEER/OPERATION/SPREAD. `after` is called
    /// after each sample, outside the time.
    pub fn add(
        &mut self,
        id: &str,
        plan: Plan,
        body: Loop,
        after: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Asked {
        let asked: Asked = Arc::new((0..plan.objects).map(|_| AtomicU64::new(0)).collect());
        let mut wanted = vec![(format!("{id}/1"), 1, false)];
        for several in self.given.threads.iter().copied().filter(|threads| *threads > 1) {
            if plan.same {
                wanted.push((format!("{id}/{several}-same"), several, true));
            }
            if plan.separate {
                wanted.push((format!("{id}/{several}-separate"), several, false));
            }
        }
        let here = processors::processors();
        for (id, threads, same) in wanted {
            if threads > here {
                self.missing(&id, &format!("there are {here} processors here"));
            } else if self.only.is_match(&id) {
                let (body, asked, after) = (body.clone(), asked.clone(), after.clone());
                self.benchmarks.push(Benchmark { id, threads, same, plan, body, asked, after });
            }
        }
        asked
    }

    /// A total that is compared when the run is over.
    pub fn expect(
        &mut self,
        what: String,
        found: impl Fn() -> u64 + 'static,
        asked: impl Fn() -> u64 + 'static,
    ) {
        self.expectations.push((what, Box::new(found), Box::new(asked)));
    }

    fn say_hello(&self) {
        let pairs = |all: &[(String, String)], one: &dyn Fn(&(String, String)) -> String| {
            all.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let versions =
            pairs(&self.versions, &|(what, which)| format!("{}: {}", quoted(what), quoted(which)));
        let missing = pairs(&self.missing, &|(id, why)| {
            format!("{{\"id\": {}, \"why\": {}}}", quoted(id), quoted(why))
        });
        let benchmarks: Vec<String> = self
            .benchmarks
            .iter()
            .map(|each| format!("{{\"id\": {}, \"unit\": \"ns\"}}", quoted(&each.id)))
            .collect();
        println!(
            "{{\"side\": {}, \"versions\": {{{versions}}}, \"benchmarks\": [{}], \"missing\": \
             [{missing}]}}",
            quoted(self.name),
            benchmarks.join(", ")
        );
    }

    fn finish(&self) -> i32 {
        let mut wrong = 0;
        for (what, found, asked) in &self.expectations {
            let (found, asked) = (found(), asked());
            if (found, asked) == (0, 0) {
                continue; // --only left it out
            }
            let what = quoted(what);
            println!("{{\"check\": {what}, \"found\": {found}, \"asked\": {asked}}}");
            wrong |= i32::from(found != asked);
        }
        println!("{{\"done\": \"finish\"}}");
        wrong
    }

    /// Does what stdin says until it says `finish`; the exit status of the program.
    pub fn run(&self) -> i32 {
        self.say_hello();
        for line in std::io::stdin().lines() {
            match line.as_deref().map(str::trim) {
                Ok("finish") => return self.finish(),
                Ok(line) if line.starts_with("round ") => {
                    self.benchmarks.iter().for_each(Benchmark::sample);
                    println!("{{\"done\": \"round\"}}");
                }
                _ => {}
            }
            let _ = std::io::stdout().flush();
        }
        2 // the runner is gone
    }
}

impl Benchmark {
    fn sample(&self) {
        let (ns, disturbed, overlap) =
            if self.threads == 1 { (self.alone(), 0, 1.0) } else { self.together() };
        println!(
            "{{\"id\": {}, \"value\": {ns:.6}, \"disturbed\": {disturbed}, \"overlap\": \
             {overlap:.3}}}",
            quoted(&self.id)
        );
        if let Some(after) = &self.after {
            after();
        }
    }

    fn count(&self, object: usize, done: u64) {
        self.asked[object].fetch_add(done, Ordering::Relaxed);
    }

    fn alone(&self) -> f64 {
        let start = processors::cpu_ns();
        for object in 0..self.plan.objects {
            (self.body)(Who { object, thread: 0 }, self.plan.times);
        }
        let took = processors::cpu_ns() - start;
        (0..self.plan.objects).for_each(|object| self.count(object, self.plan.times));
        took as f64 / (self.plan.times * self.plan.objects as u64) as f64
    }

    /// Two windows, so that which object it is weighs the same whether threads are apart or not.
    fn together(&self) -> (f64, u32, f64) {
        let (mut ns, mut disturbed, mut overlap) = (0.0, 0, 1.0_f64);
        for window in 0..2 {
            let object_of =
                |thread| (window + if self.same { 0 } else { thread }) % self.plan.objects;
            let work = |thread, times| {
                (self.body)(Who { object: object_of(thread), thread }, times);
            };
            let result = processors::together(self.threads, self.plan.times, &work);
            for (thread, done) in result.done.iter().enumerate() {
                self.count(object_of(thread), *done);
            }
            ns += result.ns / 2.0;
            disturbed += result.disturbed;
            overlap = overlap.min(result.overlap);
        }
        (ns, disturbed, overlap)
    }
}
