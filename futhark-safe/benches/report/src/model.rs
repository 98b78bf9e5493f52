//! The cost model: what an operation costs on a backend, as a fixed part and a part per byte.

use crate::results::{Case, Results};

/// The most bytes that lines are fitted through: beyond the caches, a byte costs several times as much.
pub const CACHED: f64 = (4 << 20) as f64;

/// Nanoseconds of an operation: `fixed + per_byte * bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    pub fixed: f64,
    pub per_byte: f64,
    /// The largest error of the line at a measured point, as a part of the time.
    pub worst: f64,
}

impl Line {
    /// The least squares of relative errors, so that small sizes count as much as large ones. `None` for fewer
    /// than two sizes.
    pub fn fit(points: &[(f64, f64)]) -> Option<Line> {
        // With each equation `fixed + per_byte * x = t` divided by t.
        let (mut aa, mut ab, mut bb, mut ac, mut bc) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (x, t) in points {
            let (a, b) = (1.0 / t, x / t);
            aa += a * a;
            ab += a * b;
            bb += b * b;
            ac += a;
            bc += b;
        }
        let determinant = aa * bb - ab * ab;
        if points.len() < 2 || determinant <= 0.0 {
            return None;
        }
        let mut line = Line {
            fixed: (ac * bb - bc * ab) / determinant,
            per_byte: (aa * bc - ab * ac) / determinant,
            worst: 0.0,
        };
        let error = |(x, t): &(f64, f64)| (line.at(*x) / t - 1.0).abs();
        line.worst = points.iter().map(error).fold(0.0, f64::max);
        Some(line)
    }

    /// The predicted time.
    pub fn at(&self, bytes: f64) -> f64 {
        self.fixed + self.per_byte * bytes
    }
}

/// Bytes and time of each size that was measured.
pub fn points(results: &Results, backend: &str, name: &str, variant: &str) -> Vec<(f64, f64)> {
    let cases = results
        .iter()
        .filter(|(case, _)| case.backend == backend && case.name == name);
    cases
        .filter_map(|(_, variants)| Some((variants.bytes? as f64, variants.time(variant)?)))
        .collect()
}

/// The line through all sizes of the typed interface that fit into caches.
pub fn line(results: &Results, backend: &str, name: &str) -> Option<Line> {
    let mut points = points(results, backend, name, "typed");
    points.retain(|(bytes, _)| *bytes <= CACHED);
    Line::fit(&points)
}

/// Nanoseconds per byte of the largest size, if that does not fit into caches.
pub fn large(results: &Results, backend: &str, name: &str) -> Option<f64> {
    let points = points(results, backend, name, "typed");
    let (bytes, time) = points.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (bytes > CACHED).then_some(time / bytes)
}

/// The time of a case without a size.
pub fn fixed(results: &Results, backend: &str, name: &str) -> Option<f64> {
    let case = Case {
        backend: backend.to_owned(),
        name: name.to_owned(),
        size: 0,
    };
    results.get(&case)?.time("typed")
}

/// A prediction beside the measurement "round trip": an upload, a call with the array and a download, with a
/// size that is not among those of the lines.
pub struct Prediction {
    pub size: u64,
    pub upload: f64,
    pub call: f64,
    pub download: f64,
    pub measured: f64,
}

/// The prediction for a backend, if everything that it needs was measured.
pub fn predict(results: &Results, backend: &str) -> Option<Prediction> {
    let (case, variants) = results
        .iter()
        .find(|(case, _)| case.backend == backend && case.name == "round trip")?;
    let bytes = variants.bytes? as f64;
    Some(Prediction {
        size: case.size,
        upload: line(results, backend, "upload")?.at(bytes),
        call: fixed(results, backend, "call with an array")?,
        download: line(results, backend, "download")?.at(bytes),
        measured: variants.time("typed")?,
    })
}
