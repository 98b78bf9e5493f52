//! Assigns identifiers to names: each name keeps its spelling if it can, otherwise it gets a hash.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Index;

use super::language::{Case, Language, Style};
use crate::text::{fnv1a, squeezed};

/// A scope in which identifiers must be distinct: the methods of a type, the parameters of a
/// function, the types of a module.
///
/// A scope does not remember the identifiers that it assigned: name all items of a scope at
/// once, or [reserve](Scope::reserve) the identifiers assigned before.
#[derive(Clone, Debug)]
pub struct Scope {
    language: Language,
    style: Style,
    /// Reserved by the language and by the generator.
    reserved: HashSet<String>,
}

impl Scope {
    /// A scope of a language, for names of one style.
    #[must_use]
    pub fn new(language: &Language, style: Style) -> Scope {
        Scope {
            language: *language,
            style,
            reserved: language.words().map(str::to_owned).collect(),
        }
    }

    /// Reserves identifiers for the generator. A name that wants one of them gets an underscore at
    /// the end.
    #[must_use]
    pub fn reserve<I>(mut self, identifiers: I) -> Scope
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        for identifier in identifiers {
            let identifier = identifier.into();
            // A word and its escaped form are one identifier.
            let other = self.language.other_form(&identifier);
            self.reserved.extend(other);
            self.reserved.insert(identifier);
        }
        self
    }

    /// Assigns identifiers to a set of names. Repeated names count once.
    #[must_use]
    pub fn assign<I>(&self, names: I) -> Names
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let mut places = HashMap::new();
        let mut pairs: Vec<(String, String)> = Vec::new();
        for name in names {
            let name = name.as_ref();
            if !places.contains_key(name) {
                places.insert(name.to_owned(), pairs.len());
                pairs.push((name.to_owned(), String::new()));
            }
        }
        let keys = pairs.iter().map(|(name, _)| (name.as_str(), 1)).collect();
        let identifiers = self.identifiers(keys);
        for (pair, identifier) in pairs.iter_mut().zip(identifiers) {
            pair.1 = identifier;
        }
        Names { pairs, places }
    }

    /// Assigns identifiers to a list in which names may repeat, such as parameters called `_`: one
    /// for each place, all different.
    ///
    /// The second of several equal names wants the identifier with a `2`, and so on. The other
    /// rules are those of [`assign`](Scope::assign).
    ///
    /// ```
    /// use futhark_manifest::names::{RUST, Scope, Style};
    ///
    /// let parameters = Scope::new(&RUST, Style::Value).assign_list(["_", "x", "_"]);
    /// assert_eq!(parameters, ["arg", "x", "arg_2"]);
    /// ```
    #[must_use]
    pub fn assign_list<I>(&self, names: I) -> Vec<String>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let names: Vec<I::Item> = names.into_iter().collect();
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let keys = names.iter().map(|name| {
            let name = name.as_ref();
            let nth = seen.entry(name).or_default();
            *nth += 1;
            (name, *nth)
        });
        self.identifiers(keys.collect())
    }

    /// One identifier for each key. Keys are all different.
    ///
    /// In each round, every name without an identifier wants its next form; the names that are alone in that get it.
    fn identifiers(&self, keys: Vec<Key<'_>>) -> Vec<String> {
        let spellings = keys
            .iter()
            .map(|&key| spell(&self.language, self.style, key));
        let spellings: Vec<String> = spellings.collect();
        let mut identifiers = vec![String::new(); keys.len()];
        let mut taken: HashSet<String> = HashSet::new();
        let mut open: Vec<usize> = (0..keys.len()).collect();
        for round in 0.. {
            let mut wanted: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for index in std::mem::take(&mut open) {
                let form = self.form(keys[index], &spellings[index], round);
                wanted.entry(form).or_default().push(index);
            }
            for (form, mut group) in wanted {
                let free = !self.reserved.contains(&form)
                    && !taken.contains(&form)
                    && self.language.is_identifier(&form);
                let keeper = match group[..] {
                    _ if !free => None,
                    [only] => Some(only),
                    _ if round == 0 => namesake(&form, &group, &keys, &spellings),
                    _ => None,
                };
                if let Some(keeper) = keeper {
                    group.retain(|&index| index != keeper);
                    taken.insert(form.clone());
                    identifiers[keeper] = form;
                }
                open.extend(group);
            }
            if open.is_empty() {
                break;
            }
        }
        identifiers
    }

    /// The identifier that a name wants in a round: its spelling, escaped if it is reserved; then the spelling with a
    /// hash, short at first.
    fn form(&self, key: Key<'_>, spelling: &str, round: usize) -> String {
        let case = self.language.case_of(self.style);
        match round {
            0 if !self.reserved.contains(spelling) => spelling.to_owned(),
            0 => {
                let escaped = self.language.escaped_form(spelling);
                escaped.unwrap_or_else(|| format!("{spelling}_"))
            }
            1 => {
                // Of the name without the spaces in which compilers differ. The authors of FNV-1a advise to
                // fold the halves.
                let hash = fnv1a(&bytes((&squeezed(key.0), key.1)));
                marked(
                    case,
                    spelling,
                    &format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff)),
                )
            }
            _ => {
                let hash = fnv1a(&[&bytes(key)[..], &round.to_le_bytes()[..]].concat());
                marked(case, spelling, &format!("{hash:016x}"))
            }
        }
    }
}

/// The identifiers of a set of names, from [`Scope::assign`].
///
/// Indexing with a name gives its identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    /// Names with identifiers, in the order of the input.
    pairs: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Names {
    /// The identifier of a name; `None` if the set did not contain it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let place = self.places.get(name)?;
        Some(&self.pairs[*place].1)
    }

    /// The names with their identifiers, in the order of the input.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.pairs
            .iter()
            .map(|(name, identifier)| (name.as_str(), identifier.as_str()))
    }

    /// The identifiers, in the order of the input.
    pub fn identifiers(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|(_, identifier)| identifier)
    }
}

impl Index<&str> for Names {
    type Output = str;

    /// # Panics
    /// If the set did not contain the name.
    fn index(&self, name: &str) -> &str {
        self.get(name)
            .unwrap_or_else(|| panic!("{name:?} has no identifier"))
    }
}

/// A name, and which of several equal ones in a list it is, from 1.
type Key<'n> = (&'n str, usize);

/// Different for different keys: `0xff` is in no UTF-8 text.
fn bytes((name, nth): Key<'_>) -> Vec<u8> {
    let mut bytes = name.as_bytes().to_vec();
    if nth > 1 {
        bytes.push(0xff);
        bytes.extend_from_slice(nth.to_string().as_bytes());
    }
    bytes
}

/// The name that equals the identifier that the group wants. If there is none, the first name that
/// equals its own spelling. Of `self` and `self_`, which both want `self_`, the latter.
fn namesake(
    identifier: &str,
    group: &[usize],
    keys: &[Key<'_>],
    spellings: &[String],
) -> Option<usize> {
    let is_named = |index: usize, text: &str| keys[index] == (text, 1);
    let mut all = group.iter().copied();
    let exact = all.find(|&index| is_named(index, identifier));
    exact.or_else(|| {
        let own = group.iter().copied();
        let own = own.filter(|&index| is_named(index, &spellings[index]));
        own.min_by_key(|&index| keys[index].0)
    })
}

/// Longer spellings are cut and end in a hash, if they are not the name itself.
const LONGEST: usize = 60;

/// Spells a name, the `nth` of several equal ones, in a style: letters, digits and
/// underscores only, in the language's case and with a valid first character.
fn spell(language: &Language, style: Style, (futhark, nth): Key<'_>) -> String {
    let words = match style {
        Style::Type => read_type(futhark),
        Style::Value | Style::Constant => read_value(futhark),
    };
    let case = language.case_of(style);
    let mut text = apply(case, &words);
    if language.has_single_underscores() {
        text = single_underscores(&text);
    }
    if nth > 1 {
        append(case, &mut text, &nth.to_string());
    }
    // Test the text with a mark, which must not turn it into a reserved prefix.
    if language.needs_lead(&marked(case, &text, "")) {
        text.insert_str(0, &recase(case, language.lead_of(case)));
    }
    if text.len() > LONGEST && text != futhark {
        text.truncate(LONGEST);
        let hash = recase(
            case,
            &format!("{:016x}", fnv1a(squeezed(futhark).as_bytes())),
        );
        append(case, &mut text, &hash);
    }
    text
}

/// The spelling with a mark and hexadecimal digits.
fn marked(case: Case, spelling: &str, digits: &str) -> String {
    let mark = match case {
        Case::Camel => "H",
        _ if spelling.ends_with('_') => "0h",
        _ => "_h",
    };
    format!("{spelling}{}", recase(case, &format!("{mark}{digits}")))
}

/// A name, character by character.
fn read_value(futhark: &str) -> String {
    let mut text = String::new();
    if !futhark.is_empty() && futhark.chars().all(|c| operator(c).is_some()) {
        text.push_str("op");
    }
    for c in futhark.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(c),
            '\'' => text.push_str("_prime"),
            _ => {
                text.push('_');
                text.push_str(operator(c).unwrap_or_default());
            }
        }
    }
    if text.chars().all(|c| c == '_') {
        return "arg".to_owned();
    }
    text
}

/// The word for an operator's character.
fn operator(c: char) -> Option<&'static str> {
    Some(match c {
        '+' => "plus",
        '-' => "minus",
        '*' => "times",
        '/' => "slash",
        '%' => "percent",
        '=' => "equals",
        '!' => "bang",
        '<' => "less",
        '>' => "greater",
        '|' => "bar",
        '&' => "and",
        '^' => "caret",
        '~' => "tilde",
        '$' => "dollar",
        '@' => "at",
        '?' => "question",
        '`' => "tick",
        _ => return None,
    })
}

/// The words of a type's name, only to make identifiers readable.
fn read_type(futhark: &str) -> String {
    if futhark == "()" {
        return "unit".to_owned();
    }
    let mut words: Vec<&str> = Vec::new();
    // Closed brackets, which are spelled if another word follows: the end of the name ends all.
    let mut closed = 0;
    let mut at = 0;
    while let Some(c) = futhark[at..].chars().next() {
        let rest = &futhark[at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let word = match c {
            _ if end > 0 => &rest[..end],
            '[' if rest.starts_with("[]") => "array",
            '(' if is_tuple(rest) => "tuple",
            '\'' => "prime",
            _ => "",
        };
        if !word.is_empty() {
            words.extend(std::iter::repeat_n("end", std::mem::take(&mut closed)));
            words.push(word);
        }
        closed += usize::from(matches!(c, ')' | '}'));
        at += end.max(c.len_utf8());
    }
    let text = words.join("_");
    if text.chars().all(|c| c == '_') {
        return "opaque".to_owned();
    }
    text
}

/// Whether the bracket at the beginning has a comma inside, outside of other brackets.
fn is_tuple(text: &str) -> bool {
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => depth -= 1,
            ',' if depth == 1 => return true,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    false
}

fn apply(case: Case, words: &str) -> String {
    match case {
        Case::Keep => words.to_owned(),
        Case::Uncapitalized => with_first(words, char::to_ascii_lowercase),
        Case::Upper => words.to_ascii_uppercase(),
        Case::Camel => words
            .split('_')
            .map(|word| with_first(word, char::to_ascii_uppercase))
            .collect(),
    }
}

fn with_first(word: &str, change: impl Fn(&char) -> char) -> String {
    let mut characters = word.chars();
    let first = characters.next().map(|c| change(&c));
    first.into_iter().chain(characters).collect()
}

/// Converts our own additions, which are in lower case, to a case.
fn recase(case: Case, own: &str) -> String {
    match case {
        Case::Upper => own.to_ascii_uppercase(),
        _ => own.to_owned(),
    }
}

/// Appends digits as a separate word.
fn append(case: Case, text: &mut String, digits: &str) {
    if case != Case::Camel && !text.ends_with('_') {
        text.push('_');
    }
    text.push_str(digits);
}

fn single_underscores(text: &str) -> String {
    let mut single = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '_' || !single.ends_with('_') {
            single.push(c);
        }
    }
    single
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::{C, RUST};

    const CASES: [Case; 4] = [Case::Keep, Case::Uncapitalized, Case::Camel, Case::Upper];

    #[test]
    fn operators_are_spelled_as_words() {
        let all = "+-*/%=!<>|&^~$@?`";
        for c in all.chars() {
            let name = spell(&RUST, Style::Value, (&c.to_string(), 1));
            assert_eq!(name, format!("op_{}", operator(c).unwrap()));
        }
        assert_eq!(spell(&RUST, Style::Value, ("a+", 1)), "a_plus");
        assert_eq!(spell(&RUST, Style::Type, ("a+", 1)), "A");
    }

    #[test]
    fn nested_types_are_told_apart() {
        for (name, expected) in [
            ("(i32, f32, bool)", "TupleI32F32Bool"),
            ("((i32, f32), bool)", "TupleTupleI32F32EndBool"),
            ("(i32, (f32, bool))", "TupleI32TupleF32Bool"),
            ("[](i32, f32)", "ArrayTupleI32F32"),
            ("{a: {b: u8}, c: i32}", "ABU8EndCI32"),
            ("{a: {b: u8, c: i32}}", "ABU8CI32"),
            ("a: (b: | c) | d: i32", "ABCEndDI32"),
            ("(opt i32)", "OptI32"),
        ] {
            assert_eq!(spell(&RUST, Style::Type, (name, 1)), expected, "{name}");
        }
    }

    #[test]
    fn spaces_do_not_change_a_hash() {
        let [old, new] = ["", " "].map(|space| format!("{{a:{space}{}}}", "b".repeat(80)));
        assert_eq!(
            spell(&RUST, Style::Type, (&old, 1)),
            spell(&RUST, Style::Type, (&new, 1))
        );
    }

    #[test]
    fn each_case_joins_words_in_its_way() {
        let texts = CASES.map(|case| apply(case, "My_typeOf_x"));
        assert_eq!(
            texts,
            ["My_typeOf_x", "my_typeOf_x", "MyTypeOfX", "MY_TYPEOF_X"]
        );
    }

    #[test]
    fn long_spellings_are_cut_and_end_in_a_hash() {
        let long = "a".repeat(200);
        let other = format!("{}b", "a".repeat(199));
        for style in [Style::Type, Style::Constant] {
            let cut = spell(&RUST, style, (&long, 1));
            assert!(cut.len() < 80, "{cut}");
            assert_ne!(cut, spell(&RUST, style, (&other, 1)));
        }
        assert_eq!(
            spell(&RUST, Style::Value, (&long, 1)),
            long,
            "the author's own choice"
        );
        assert!(spell(&C, Style::Value, (&"a_".repeat(100), 1)).len() == 200);
        assert!(!spell(&C, Style::Value, (&"a'__".repeat(100), 1)).contains("__"));
    }
}
