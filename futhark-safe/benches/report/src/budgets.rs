//! What the interface may cost, beside plain C.

/// The most that a variant of a measurement may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Nanoseconds above plain C.
    Above(f64),
    /// Times plain C.
    Ratio(f64),
}

/// Measurement, elements (0 for none), variant, limit: on every backend that is measured beside plain C.
const BUDGETS: &[(&str, u64, &str, Limit)] = &[
    ("call add", 0, "typed", Limit::Above(20.0)),
    ("call add", 0, "scope", Limit::Above(8.0)),
    ("upload", 1 << 10, "typed", Limit::Ratio(1.3)),
    ("upload", 1 << 10, "scope", Limit::Ratio(1.1)),
    ("download", 1 << 10, "typed", Limit::Ratio(1.3)),
    ("download", 1 << 10, "scope", Limit::Ratio(1.1)),
    (
        "download, fresh memory",
        1 << 24,
        "typed",
        Limit::Ratio(0.5),
    ),
    ("records, to a vector", 1 << 10, "typed", Limit::Ratio(1.2)),
    ("records, to a vector", 1 << 20, "typed", Limit::Ratio(1.2)),
    ("records, from a slice", 1 << 10, "typed", Limit::Ratio(1.2)),
    ("records, from a slice", 1 << 20, "typed", Limit::Ratio(1.2)),
];

/// A user's build: crates in the tree, and seconds above the floor.
pub const BUILD: (f64, f64) = (15.0, 5.0);

/// The limit of a variant, if there is one.
pub fn limit(name: &str, size: u64, variant: &str) -> Option<Limit> {
    let found = BUDGETS
        .iter()
        .find(|budget| (budget.0, budget.1, budget.2) == (name, size, variant));
    found.map(|budget| budget.3)
}
