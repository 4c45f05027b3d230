// SPDX-License-Identifier: Apache-2.0
//! Processor time, and several threads at once, each on a processor of its own. The method is that
//! of bench/side/together.cc, so that figures of both may be compared.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const ATTEMPTS_MAX: u32 = 20;
/// A thread that got less than this part of the elapsed time was disturbed.
const OVERLAP_MIN: f64 = 0.95;
/// Operations between two looks at the flag that ends a window.
const CHUNK: u64 = 65536;

/// What a window of several threads came to.
pub struct Together {
    /// The time of an operation, asleep in it too, the mean of the threads.
    pub ns: f64,
    /// Operations of each thread, those of discarded windows too.
    pub done: Vec<u64>,
    pub disturbed: u32,
    pub overlap: f64,
}

struct Share {
    done: u64,
    inside: u64,
    own_ns: f64,
    wall_ns: f64,
}

/// How often a thread gave its processor up, and how long it waited for one that it wanted.
struct Waits {
    given_up: i64,
    queued_ns: u64,
}

fn clock_ns(id: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(id, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Processor time of the calling thread.
pub fn cpu_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn allowed() -> Vec<usize> {
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) != 0 {
            return vec![0];
        }
        (0..libc::CPU_SETSIZE as usize).filter(|cpu| libc::CPU_ISSET(*cpu, &set)).collect()
    }
}

/// Processors that this process may use.
pub fn processors() -> usize {
    allowed().len()
}

fn pin(thread: usize) {
    let allowed = allowed();
    if allowed.len() < 2 || thread >= allowed.len() {
        return;
    }
    unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(allowed[thread], &mut one);
        libc::sched_setaffinity(0, std::mem::size_of_val(&one), &one);
    }
}

impl Waits {
    fn so_far() -> Waits {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let queued_ns = text.split(' ').nth(1).and_then(|number| number.parse().ok());
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        match (queued_ns, unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) }) {
            (Some(queued_ns), 0) => Waits { given_up: usage.ru_nvcsw, queued_ns },
            _ => Waits { given_up: 0, queued_ns: 0 },
        }
    }

    /// The time since that was spent neither on a processor nor waiting for one: in a lock.
    fn asleep_ns(&self, cpu_ns: u64, wall_ns: u64) -> u64 {
        let now = Waits::so_far();
        if now.given_up <= self.given_up {
            return 0;
        }
        wall_ns.saturating_sub(cpu_ns + (now.queued_ns - self.queued_ns))
    }
}

fn take_part(
    arrived: &AtomicUsize,
    ended: &AtomicBool,
    (thread, threads): (usize, usize),
    times: u64,
    work: &(dyn Fn(usize, u64) + Sync),
) -> Share {
    let chunk = times.min(CHUNK);
    pin(thread);
    work(thread, chunk); // first touches, outside the window
    let before = Waits::so_far();
    arrived.fetch_add(1, Ordering::SeqCst);
    while arrived.load(Ordering::SeqCst) < threads {
        std::hint::spin_loop();
    }
    let (cpu, wall) = (cpu_ns(), clock_ns(libc::CLOCK_MONOTONIC));
    let mut inside = 0;
    while inside < times && !ended.load(Ordering::Relaxed) {
        work(thread, chunk);
        inside += chunk;
    }
    ended.store(true, Ordering::SeqCst);
    let (cpu, wall) = (cpu_ns() - cpu, clock_ns(libc::CLOCK_MONOTONIC) - wall);
    let own_ns = (cpu + before.asleep_ns(cpu, wall)) as f64;
    Share { done: inside + chunk, inside, own_ns, wall_ns: wall as f64 }
}

/// Runs `work(thread, times)` in `threads` threads, some chunks each, until the first has done
/// `times`; a window in which a thread had to wait for its processor is taken again.
pub fn together(threads: usize, times: u64, work: &(dyn Fn(usize, u64) + Sync)) -> Together {
    let mut result = Together { ns: 0.0, done: vec![0; threads], disturbed: 0, overlap: -1.0 };
    for _ in 0..ATTEMPTS_MAX {
        let (arrived, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        let shares: Vec<Share> = std::thread::scope(|scope| {
            let (arrived, ended) = (&arrived, &ended);
            let start = |thread| {
                scope.spawn(move || take_part(arrived, ended, (thread, threads), times, work))
            };
            let all: Vec<_> = (0..threads).map(start).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let (mut ns, mut overlap) = (0.0, 1.0_f64);
        for (done, share) in result.done.iter_mut().zip(&shares) {
            *done += share.done;
            // a thread that came too late to do anything has no figure, and the window no overlap
            if share.inside == 0 {
                overlap = 0.0;
                continue;
            }
            overlap = overlap.min(share.own_ns / share.wall_ns);
            ns += share.own_ns / share.inside as f64 / threads as f64;
        }
        result.disturbed += u32::from(overlap < OVERLAP_MIN);
        if overlap > result.overlap {
            (result.overlap, result.ns) = (overlap, ns);
        }
        if result.overlap >= OVERLAP_MIN {
            break;
        }
    }
    result
}
