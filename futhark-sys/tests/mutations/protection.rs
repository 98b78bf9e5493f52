//! Compares the checks in two hardened texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::file::{File, is_end, is_name, is_ours, is_word};
use crate::layout::is_declaration;
use crate::names::{Names, renamed};

/// A generated text, and the text that hardening makes of it.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub generated: &'a str,
    pub hardened: &'a str,
}

/// The first difference between the statements of the original, whose variables get new `names`, and the mutated text.
pub fn difference(original: Pair<'_>, names: &Names, mutated: Pair<'_>) -> Option<String> {
    let [original, mutated] = without_equal_runtime(original, mutated);
    let old = statements(original.hardened, names);
    let new = statements(mutated.hardened, &Names::new());
    if old == new {
        return None;
    }
    let equal = old.iter().zip(&new).take_while(|(old, new)| old == new);
    let at = equal.count();
    let [old, new] = [old, new].map(|all| {
        let excerpt = all.iter().skip(at.saturating_sub(2)).take(4);
        excerpt
            .flatten()
            .fold(String::new(), |text, token| text + " " + token)
    });
    Some(format!("  expected: {old}\n  got:      {new}"))
}

/// The first differences in what hardening adds to each function: how often a check with the names in it, and how often a
/// word.
pub fn difference_of_checks(original: Pair<'_>, mutated: Pair<'_>) -> Option<String> {
    let [old, new] = without_equal_runtime(original, mutated);
    let mut all = BTreeMap::<String, i32>::new();
    let texts = [old.generated, old.hardened, new.generated, new.hardened];
    for (text, sign) in texts.into_iter().zip([1, -1, -1, 1]) {
        let file = File::read(text);
        for function in &file.functions {
            let tokens = &file.tokens[function.all.clone()];
            let words = tokens.iter().filter(|token| is_word(token));
            let words = words.map(|word| (*word).to_owned());
            let in_statements = tokens.split(|token| is_end(token)).flat_map(checks_of);
            for added in words.chain(in_statements) {
                *all.entry(format!("{}: {added}", function.name))
                    .or_default() += sign;
            }
        }
    }
    all.retain(|_, count| *count != 0);
    let lines = all
        .iter()
        .take(6)
        .map(|(place, count)| format!("{count:+} in {place}\n"));
    Some(lines.collect()).filter(|_| !all.is_empty())
}

/// The texts after the runtime, if everything before is equal in the hardened texts.
fn without_equal_runtime<'a>(original: Pair<'a>, mutated: Pair<'a>) -> [Pair<'a>; 2] {
    let split = |text: &'a str| text.split_at(text.rfind("\n// End of ").unwrap_or_default());
    let pairs = [original, mutated];
    match split(original.hardened).0 == split(mutated.hardened).0 {
        true => pairs.map(|pair| Pair {
            generated: split(pair.generated).1,
            hardened: split(pair.hardened).1,
        }),
        false => pairs,
    }
}

/// The statements with new names. What is no promise is brought into one order: neighbouring declarations, the terms
/// `a || b` of a statement with checks of ours, and the names of our variables.
fn statements(text: &str, names: &Names) -> Vec<Vec<String>> {
    // Our names derive from the compiler's.
    let rename = |token: &&str| match token.strip_prefix("fut_") {
        Some(rest) if names.contains_key(rest) => format!("fut_{}", names[rest]),
        _ => renamed(token, names),
    };
    let tokens: Vec<String> = File::read(text).tokens.iter().map(rename).collect();
    let statements = tokens.split_inclusive(|token| is_end(token));
    let mut all: Vec<Vec<String>> = statements.map(<[String]>::to_vec).collect();
    for run in all.chunk_by_mut(|a, b| is_declaration(a) && is_declaration(b)) {
        run.sort();
    }
    let mut numbers = BTreeMap::new();
    for statement in &mut all {
        let has = |is_it: &dyn Fn(&str) -> bool| statement.iter().any(|token| is_it(token));
        if has(&|token| token == "||") && has(&is_ours) {
            let parts = statement.split(|token| ["(", ")", ",", "||"].contains(&token.as_str()));
            let mut parts: Vec<Vec<String>> = parts.map(<[String]>::to_vec).collect();
            parts.sort();
            *statement = parts.concat();
        }
        for i in 0..statement.len() {
            let is_called = statement.get(i + 1).is_some_and(|next| next == "(");
            if statement[i].starts_with("fut_") && !is_called {
                let next = numbers.len();
                let number = *numbers.entry(statement[i].clone()).or_insert(next);
                statement[i] = format!("fut_{number}");
            }
        }
    }
    all
}

/// The checks in one statement: `fut_times(n_1, fut_m_2)` with its names in order.
fn checks_of(statement: &[&str]) -> BTreeSet<String> {
    let calls = (1..statement.len()).filter(|&open| is_ours(statement[open - 1]));
    let calls = calls.filter(|&open| statement[open] == "(");
    let check = |open| {
        let mut depth = 0;
        let inner = statement[open..].iter().take_while(|token| {
            depth += i32::from(**token == "(") - i32::from(**token == ")");
            depth > 0
        });
        let names: BTreeSet<&str> = inner.copied().filter(|token| is_name(token)).collect();
        let names: Vec<&str> = names.into_iter().collect();
        format!("{}({})", statement[open - 1], names.join(", "))
    };
    calls.map(check).collect()
}

/// Pairs of a function and a variable of the program that hardening computes again or checks in it.
pub fn sizes(hardened: &str) -> BTreeSet<(String, String)> {
    let file = File::read(hardened);
    let mut sizes = BTreeSet::new();
    for function in &file.functions {
        let tokens = file.tokens[function.body.clone()].iter();
        for name in tokens.filter_map(|token| token.strip_prefix("fut_")) {
            sizes.insert((function.name.to_owned(), name.to_owned()));
        }
    }
    sizes
}
