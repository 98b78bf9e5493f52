//! Which topics each check asks about.

use super::construct::Topic;

/// The topics of each check in the catalog.
const TOPICS: &[(&str, &[Topic])] = {
    use Topic::{
        Array, Case, Consumption, Entry, Failure, Name, Opaque, Operator, Program, Tuning,
    };
    &[
        ("compile", &[Program, Name, Case, Operator]),
        ("manifest", &[Program, Name, Entry, Array, Opaque, Tuning]),
        ("header", &[Program, Name, Entry, Array, Opaque]),
        ("symbols", &[Program, Name, Array, Opaque]),
        ("plain", &[Program, Entry, Array]),
        ("lifecycle", &[Program]),
        ("arrays", &[Array]),
        ("index", &[Array]),
        ("raw", &[Array]),
        ("blocks", &[Case, Failure, Operator]),
        ("differential", &[Entry, Array, Opaque, Operator]),
        ("server", &[Entry, Array, Opaque]),
        ("errors", &[Entry, Array, Failure]),
        ("consume", &[Consumption]),
        ("opaque", &[Opaque]),
        ("store", &[Opaque]),
        ("settings", &[Program, Tuning]),
        ("leaks", &[Program, Entry, Array, Opaque, Failure]),
        ("device-code", &[Program, Operator]),
    ]
};

/// The topics that a check asks about. A check that is not listed asks about all of them.
#[must_use]
pub fn topics(check: &str) -> &'static [Topic] {
    let listed = TOPICS.iter().find(|(name, _)| *name == check);
    listed.map_or(Topic::ALL, |(_, topics)| topics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;
    use std::collections::BTreeSet;

    #[test]
    fn the_topics_of_every_check_are_listed() {
        let listed: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
        let catalog: Vec<&str> = checks::ALL.iter().map(|check| check.name).collect();
        assert_eq!(listed, catalog);
    }

    #[test]
    fn some_check_asks_about_each_topic() {
        let asked: BTreeSet<Topic> = TOPICS
            .iter()
            .flat_map(|(_, topics)| *topics)
            .copied()
            .collect();
        assert_eq!(asked, Topic::ALL.iter().copied().collect());
    }
}
