//! Compares the checks in two hardened texts.

use std::collections::{BTreeMap, BTreeSet};

use crate::layout::is_declaration;
use crate::names::{Names, renamed};
use crate::pieces::{self, Kind, Piece};

/// What must be equal.
#[derive(Clone, Copy)]
pub enum Equal {
    /// All tokens.
    Tokens,
    /// All tokens, after neighbouring declarations were sorted.
    Declarations,
    /// The checks of each function, with the variables in each, and the words that hardening adds.
    Checks,
}

/// A generated text, and the text that hardening makes of it.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub generated: &'a str,
    pub hardened: &'a str,
}

/// The first difference between the checks of the original, whose variables get new `names`, and the mutated text.
pub fn difference(
    equal: Equal,
    original: Pair<'_>,
    names: &Names,
    mutated: Pair<'_>,
) -> Option<String> {
    let (original, mutated) = without_equal_runtime(original, mutated);
    match equal {
        Equal::Tokens | Equal::Declarations => {
            let mut old = tokens(original.hardened, names);
            let mut new = tokens(mutated.hardened, &Names::new());
            for tokens in [&mut old, &mut new] {
                if matches!(equal, Equal::Declarations) {
                    sort_declarations(tokens);
                }
                sort_terms(tokens);
                number_our_names(tokens);
            }
            first_difference(&old, &new)
        }
        Equal::Checks => {
            let (old, new) = (checks(original), checks(mutated));
            let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
            names.into_iter().find_map(|name| {
                let (old, new) = (old.get(name), new.get(name));
                (old != new).then(|| format!("function {name}:\n{}", set_difference(old, new)))
            })
        }
    }
}

/// The texts after the runtime, if everything before is equal in the hardened texts.
fn without_equal_runtime<'a>(original: Pair<'a>, mutated: Pair<'a>) -> (Pair<'a>, Pair<'a>) {
    const MARKER: &str = "\n// End of ";
    let split = |text: &'a str| text.split_at(text.rfind(MARKER).unwrap_or_default());
    let texts = [original.hardened, mutated.hardened].map(split);
    if texts[0].0 != texts[1].0 {
        return (original, mutated);
    }
    let pairs = [original, mutated].map(|pair| Pair {
        generated: split(pair.generated).1,
        hardened: split(pair.hardened).1,
    });
    (pairs[0], pairs[1])
}

/// The tokens, with new names. Our names derive from the compiler's.
fn tokens(text: &str, names: &Names) -> Vec<String> {
    let rename = |piece: Piece<'_>| match piece.text.strip_prefix("fut_") {
        Some(rest) if names.contains_key(rest) => format!("fut_{}", names[rest]),
        _ => renamed(piece.text, names),
    };
    let pieces = pieces::pieces(text).into_iter().filter(Piece::is_token);
    pieces.map(rename).collect()
}

/// Sorts each group of neighbouring declarations.
fn sort_declarations(tokens: &mut Vec<String>) {
    let mut sorted = Vec::with_capacity(tokens.len());
    let mut run: Vec<Vec<String>> = Vec::new();
    let mut statement: Vec<String> = Vec::new();
    for token in tokens.drain(..) {
        let ends = [";", "{", "}"].contains(&token.as_str());
        statement.push(token);
        if !ends {
            continue;
        }
        let texts: Vec<&str> = statement.iter().map(String::as_str).collect();
        if is_declaration(&texts) {
            run.push(std::mem::take(&mut statement));
        } else {
            run.sort();
            sorted.extend(run.drain(..).flatten());
            sorted.append(&mut statement);
        }
    }
    sorted.extend(run.into_iter().flatten());
    sorted.append(&mut statement);
    *tokens = sorted;
}

/// Sorts the terms `a || b || …` between parentheses that contain a check of ours or are its argument: their order is no
/// promise.
fn sort_terms(tokens: &mut [String]) {
    let is_ours = |token: &String| token.starts_with("fut_") || token.starts_with("FUT_");
    let mut open = Vec::new();
    for i in 0..tokens.len() {
        match tokens[i].as_str() {
            "(" => open.push(i),
            ")" => {
                let Some(begin) = open.pop() else { continue };
                // With the name of the function that is called.
                let inner = &tokens[begin.saturating_sub(1)..i];
                if inner.iter().any(|token| token == "||") && inner.iter().any(is_ours) {
                    sort_arguments(&mut tokens[begin + 1..i]);
                }
            }
            _ => {}
        }
    }
}

/// Sorts the terms of each argument in a list.
fn sort_arguments(list: &mut [String]) {
    let mut depth = 0;
    let mut terms: Vec<Vec<String>> = vec![Vec::new()];
    let mut begin = 0;
    for i in 0..=list.len() {
        let token = list.get(i).map_or(",", String::as_str);
        depth += i32::from(token == "(") - i32::from(token == ")");
        match (token, depth) {
            ("||", 0) => terms.push(Vec::new()),
            (",", 0) => {
                terms.sort();
                let joined = terms.join(&"||".to_owned());
                list[begin..i].clone_from_slice(&joined);
                terms = vec![Vec::new()];
                begin = i + 1;
            }
            _ => terms.last_mut().expect("a term").push(token.to_owned()),
        }
    }
}

/// Numbers our variables and fields in the order of their first use: their names are no promise.
fn number_our_names(tokens: &mut [String]) {
    let mut numbers = BTreeMap::new();
    for i in 0..tokens.len() {
        let is_called = tokens.get(i + 1).is_some_and(|next| next == "(");
        if tokens[i].starts_with("fut_") && !is_called {
            let next = numbers.len();
            let number = *numbers.entry(tokens[i].clone()).or_insert(next);
            tokens[i] = format!("fut_{number}");
        }
    }
}

fn first_difference(old: &[String], new: &[String]) -> Option<String> {
    let equal = old.iter().zip(new).take_while(|(old, new)| old == new);
    let at = equal.count();
    if at == old.len() && at == new.len() {
        return None;
    }
    // The statement before, for the reader.
    let ends: Vec<usize> = (0..at)
        .rev()
        .filter(|&i| [";", "{", "}"].contains(&old[i].as_str()))
        .take(2)
        .collect();
    let begin = ends.last().map_or(0, |end| end + 1);
    let excerpt = |tokens: &[String]| tokens[begin..tokens.len().min(at + 25)].join(" ");
    let function = old[..at].windows(2).rev().find(|pair| {
        pair[1] == "("
            && ["futrts_", "futhark_", "gpu_kernel_", "init_constants"]
                .iter()
                .any(|start| pair[0].starts_with(start))
    });
    let function = function.map_or("", |pair| pair[0].as_str());
    Some(format!(
        "near {function}:\n  expected: {}\n  got:      {}",
        excerpt(old),
        excerpt(new)
    ))
}

/// What hardening adds to a function: how often each check occurs, with the names in it, and how often it adds or removes each
/// word.
type Added = BTreeMap<String, i64>;

fn checks(pair: Pair<'_>) -> BTreeMap<String, Added> {
    let mut all = BTreeMap::<String, Added>::new();
    for (text, sign) in [(pair.generated, -1), (pair.hardened, 1)] {
        let pieces = pieces::pieces(text);
        for function in pieces::functions(&pieces, 0) {
            let added = all.entry(function.name.to_owned()).or_default();
            let tokens: Vec<_> = (pieces[function.all].iter())
                .filter(|piece| piece.is_token())
                .collect();
            for piece in tokens.iter().filter(|piece| piece.kind == Kind::Word) {
                *added.entry(piece.text.to_owned()).or_default() += sign;
            }
            for statement in tokens.split(|piece| [";", "{", "}"].contains(&piece.text)) {
                for check in checks_of(statement) {
                    *added.entry(check).or_default() += sign;
                }
            }
        }
    }
    for added in all.values_mut() {
        added.retain(|_, count| *count != 0);
    }
    all.retain(|_, added| !added.is_empty());
    all
}

/// The checks in one statement: `fut_times(n_1, fut_m_2)` with its names in order.
fn checks_of(statement: &[&Piece<'_>]) -> BTreeSet<String> {
    let mut checks = BTreeSet::new();
    for (i, piece) in statement.iter().enumerate() {
        let is_ours = piece.text.starts_with("fut_") || piece.text.starts_with("FUT_");
        if !is_ours || statement.get(i + 1).is_none_or(|next| next.text != "(") {
            continue;
        }
        let mut depth = 0;
        let inner = statement[i + 1..].iter().take_while(|piece| {
            depth += i32::from(piece.text == "(") - i32::from(piece.text == ")");
            depth > 0
        });
        let names: BTreeSet<_> = inner
            .filter(|piece| piece.is_name())
            .map(|piece| piece.text)
            .collect();
        let names: Vec<_> = names.into_iter().collect();
        checks.insert(format!("{}({})", piece.text, names.join(", ")));
    }
    checks
}

fn set_difference(old: Option<&Added>, new: Option<&Added>) -> String {
    let empty = Added::new();
    let (old, new) = (old.unwrap_or(&empty), new.unwrap_or(&empty));
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let lines = names.into_iter().filter_map(|name| {
        let count = |added: &Added| added.get(name).copied().unwrap_or_default();
        let (old, new) = (count(old), count(new));
        (old != new).then(|| format!("  {name}: expected {old}, got {new}"))
    });
    lines.take(6).collect::<Vec<_>>().join("\n")
}

/// Pairs of a function and a variable of the program that hardening computes again or checks in it.
pub fn sizes(hardened: &str) -> BTreeSet<(String, String)> {
    let pieces = pieces::pieces(hardened);
    let mut sizes = BTreeSet::new();
    for function in pieces::functions(&pieces, 0) {
        for piece in &pieces[function.body] {
            if let Some(name) = piece.text.strip_prefix("fut_")
                && piece.is_name()
            {
                sizes.insert((function.name.to_owned(), name.to_owned()));
            }
        }
    }
    sizes
}
