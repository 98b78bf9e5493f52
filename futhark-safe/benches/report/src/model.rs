//! The cost model: what an operation costs on a backend.

use crate::results::{Case, Results};

/// Bytes and time of each size that was measured, in their order.
pub fn points(results: &Results, backend: &str, name: &str, variant: &str) -> Vec<(f64, f64)> {
    let cases = results
        .iter()
        .filter(|(case, _)| case.backend == backend && case.name == name);
    cases
        .filter_map(|(_, variants)| Some((variants.bytes? as f64, variants.time(variant)?)))
        .collect()
}

/// The predicted time of a transfer of this many bytes: on the straight line between the next smaller and the next
/// larger size that was measured. A smaller transfer takes as long as the smallest, and a larger one as long per byte as
/// the largest. `points` are in the order of their sizes.
///
/// One line for all sizes would be wrong by up to half: a byte costs more in each cache than in the one before.
pub fn at(points: &[(f64, f64)], bytes: f64) -> Option<f64> {
    let (smallest, largest) = (points.first()?, points.last()?);
    let next = points.windows(2).find(|pair| bytes <= pair[1].0);
    Some(match next {
        _ if bytes <= smallest.0 => smallest.1,
        Some(pair) => {
            let [(x0, t0), (x1, t1)] = [pair[0], pair[1]];
            t0 + (t1 - t0) * (bytes - x0) / (x1 - x0)
        }
        None => largest.1 * bytes / largest.0,
    })
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
/// size that was not measured.
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
    let transfer = |name| at(&points(results, backend, name, "typed"), bytes);
    Some(Prediction {
        size: case.size,
        upload: transfer("upload")?,
        call: fixed(results, backend, "call with an array")?,
        download: transfer("download")?,
        measured: variants.time("typed")?,
    })
}
