//! The kernels that are measured: entry points of `programs/workloads` that take a size and return a number.

use std::path::{Path, PathBuf};

use futhark_safe::dynamic::{Arg, Context, Library, Scalar, Value};
use futhark_safe::{Backend, Config};

use crate::builds::{self, Variant};
use crate::plain;

/// A kernel.
pub struct Workload {
    /// What it computes.
    pub name: &'static str,
    program: &'static str,
    entry: &'static str,
    /// The size for measurements: some milliseconds.
    pub size: i64,
    /// The size for tests and counts of instructions.
    pub small: i64,
    /// The number of elements that it computes, for a size.
    pub elements: fn(i64) -> i64,
}

/// All kernels.
#[rustfmt::skip] // A table.
pub const WORKLOADS: [Workload; 10] = [
    Workload { name: "stencil", program: "heat", entry: "heat_after", size: 400, small: 64, elements: |n| 10 * n * n },
    Workload { name: "matrix product", program: "matrix_product", entry: "sum_of_product", size: 100, small: 40, elements: |n| n * n * n },
    Workload { name: "LU", program: "lu", entry: "sum_of_factors", size: 200, small: 50, elements: |n| n * n * n / 3 },
    Workload { name: "scan", program: "prefix_sums", entry: "rounds", size: 1 << 16, small: 1 << 12, elements: |n| 8 * n },
    Workload { name: "histogram", program: "histogram", entry: "rounds", size: 1 << 18, small: 1 << 13, elements: |n| 4 * n },
    Workload { name: "sort", program: "radix_sort", entry: "sum_of_gaps", size: 1 << 14, small: 1 << 10, elements: |n| 32 * n },
    Workload { name: "FFT", program: "fourier", entry: "sum_of_spectrum", size: 1 << 13, small: 1 << 9, elements: |n| n * i64::from(n.ilog2()) },
    Workload { name: "option pricing", program: "black_scholes", entry: "book_value", size: 1 << 13, small: 1 << 9, elements: |n| n },
    Workload { name: "n-body", program: "nbody", entry: "spread", size: 250, small: 50, elements: |n| 8 * n * n },
    Workload { name: "image filter", program: "blur", entry: "sum_of_smoothed", size: 150, small: 30, elements: |n| 12 * n * n },
];

/// A kernel in a context of its own: takes the size.
pub type Kernel = Box<dyn Fn(i64) -> f64>;

impl Workload {
    /// The Futhark program.
    pub fn source(&self) -> PathBuf {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../programs/workloads");
        programs.join(self.program).with_extension("fut")
    }

    /// Compiles the program and creates a context.
    pub fn kernel(&self, backend: Backend, variant: Variant) -> Kernel {
        let by_c = match variant {
            Variant::Plain => Some(builds::plain(&self.source(), backend)),
            Variant::Library => Some(builds::library(&self.source(), backend)),
            _ => None,
        };
        if let Some(library) = by_c {
            return plain::Context::open(&library).kernel(self.entry);
        }
        let build = builds::ours(&self.source(), backend, variant);
        let library = Library::build(&build).expect("the program compiles");
        let context = Context::new(&library, &Config::new()).expect("a context");
        let entry = self.entry;
        Box::new(move |n| {
            let n = Value::from(n);
            let results = context
                .call(entry, vec![Arg::Borrow(&n)])
                .expect("a result");
            match results.as_slice() {
                [Value::Scalar(Scalar::F64(result))] => *result,
                other => panic!("expected a number, got {other:?}"),
            }
        })
    }
}
