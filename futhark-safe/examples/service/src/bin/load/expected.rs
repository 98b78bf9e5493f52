//! The program once more, in Rust.

use serde_json::{Value, json};

/// The mean, the standard deviation, the minimum and the maximum.
pub fn summary(xs: &[f64]) -> Value {
    let count = xs.len() as f64;
    let mean = xs.iter().sum::<f64>() / count;
    let variance = xs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    json!({
        "mean": mean,
        "deviation": variance.sqrt(),
        "minimum": xs.iter().copied().fold(f64::INFINITY, f64::min),
        "maximum": xs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The number of values in each bin.
pub fn histogram(xs: &[f64], bins: i64, low: f64, high: f64) -> Value {
    let mut counts = vec![0; bins as usize];
    for x in xs.iter().filter(|x| (low..high).contains(*x)) {
        let bin = (x - low) / (high - low) * bins as f64;
        counts[(bin as usize).min(bins as usize - 1)] += 1;
    }
    json!({ "counts": counts })
}

/// The mean of each number and its neighbours.
pub fn smooth(xs: &[f64], radius: i64) -> Value {
    let radius = radius as usize;
    let mean = |i: usize| {
        let window = &xs[i.saturating_sub(radius)..xs.len().min(i + radius + 1)];
        window.iter().sum::<f64>() / window.len() as f64
    };
    json!({ "means": (0..xs.len()).map(mean).collect::<Vec<_>>() })
}

/// Whether two values are equal, except for the rounding of numbers.
pub fn are_close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_close(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| are_close(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_results() {
        let xs = [1.0, 2.0, 4.0, 5.0];
        let wanted =
            json!({ "mean": 3.0, "deviation": 2.5f64.sqrt(), "minimum": 1.0, "maximum": 5.0 });
        assert!(are_close(&summary(&xs), &wanted));
        assert_eq!(histogram(&xs, 2, 2.0, 5.0), json!({ "counts": [1, 1] }));
        assert_eq!(
            smooth(&xs, 1),
            json!({ "means": [1.5, 7.0 / 3.0, 11.0 / 3.0, 4.5] })
        );
    }

    #[test]
    fn other_values_are_not_close() {
        let a = json!({ "means": [1.0, 2.0] });
        for b in [
            json!({ "means": [1.0, 2.001] }),
            json!({ "means": [1.0] }),
            json!({ "means": [1.0, null] }),
            json!({ "means": [1.0, 2.0], "x": 1 }),
            json!({ "counts": [1.0, 2.0] }),
        ] {
            assert!(!are_close(&a, &b), "{b}");
        }
        assert!(are_close(&a, &json!({ "means": [1, 2.0 + 1e-12] })));
    }
}
