// SPDX-License-Identifier: Apache-2.0
//! What every side is given to do, read from the folder that `--inputs` names.

use std::path::Path;

/// How many values there are, and how many steps of the order.
pub const VALUES: usize = 65536;
pub const MASK: usize = VALUES - 1;

/// The inputs, which live as long as the program.
pub struct Workload {
    /// These are arrays, so that `values[i & MASK]` needs no check in a loop that is timed.
    pub values: Box<[f64; VALUES]>,
    pub values_ns: Box<[u64; VALUES]>,
    pub order: Box<[u32; VALUES]>,
    /// With underscores, as Prometheus wants them.
    pub names: Vec<&'static str>,
    pub labels: Vec<Vec<&'static str>>,
    pub keys: Vec<&'static str>,
    pub bounds: Vec<f64>,
    pub threads: Vec<usize>,
}

fn give_up(path: &Path, why: &str) -> ! {
    eprintln!("{}: {why}; `make bench` writes this folder", path.display());
    std::process::exit(2);
}

fn numbers<const BYTES: usize>(path: &Path) -> Vec<[u8; BYTES]> {
    let bytes = std::fs::read(path).unwrap_or_default();
    if bytes.len() != VALUES * BYTES {
        give_up(path, "is missing or has another size");
    }
    bytes.chunks_exact(BYTES).map(|chunk| chunk.try_into().unwrap()).collect()
}

fn array<T>(all: Vec<T>) -> Box<[T; VALUES]> {
    let Ok(array) = all.into_boxed_slice().try_into() else { unreachable!() };
    array
}

fn lines(path: &Path) -> Vec<&'static str> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    if text.is_empty() {
        give_up(path, "is missing or empty");
    }
    Box::leak(text.into_boxed_str()).lines().collect()
}

impl Workload {
    /// Reads the folder; says what is missing or damaged, and exits with 2 then.
    pub fn read(folder: &Path) -> &'static Workload {
        let values_ns: Vec<u64> = numbers(&folder.join("values.i64"))
            .into_iter()
            .map(|bytes| u64::try_from(i64::from_le_bytes(bytes)).unwrap())
            .collect();
        let names: Vec<&'static str> = lines(&folder.join("names.txt"))
            .into_iter()
            .map(|name| &*name.replace(['.', '-'], "_").leak())
            .collect();
        let labels: Vec<Vec<&'static str>> = lines(&folder.join("labels.txt"))
            .into_iter()
            .map(|line| line.split('\t').collect())
            .collect();
        let order: Vec<u32> =
            numbers(&folder.join("order.u32")).into_iter().map(u32::from_le_bytes).collect();
        if order.iter().any(|metric| *metric as usize >= names.len().min(labels.len())) {
            give_up(&folder.join("order.u32"), "has a number that no name belongs to");
        }
        let threads = lines(&folder.join("workload.txt"))
            .into_iter()
            .filter_map(|line| line.strip_prefix("threads "))
            .flat_map(|several| several.split(' '))
            .filter_map(|threads| threads.parse().ok())
            .collect();
        Box::leak(Box::new(Workload {
            values: array(values_ns.iter().map(|value| *value as f64).collect()),
            values_ns: array(values_ns),
            order: array(order),
            keys: (0..labels[0].len()).map(|key| &*format!("k{key}").leak()).collect(),
            names,
            labels,
            bounds: lines(&folder.join("bounds.txt"))
                .into_iter()
                .map(|bound| bound.parse().unwrap())
                .collect(),
            threads,
        }))
    }
}
