//! Assigns identifiers to names. The module's documentation has the rules and why they are correct.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Index;

use super::language::{Case, Language, Style};
use super::spelling::{looks_marked, marked, spell};
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
    /// Replaced in tests to make hashes collide.
    hash: fn(&[u8]) -> u64,
}

impl Scope {
    /// A scope of a language, for names of one style.
    #[must_use]
    pub fn new(language: &Language, style: Style) -> Scope {
        Scope {
            language: *language,
            style,
            reserved: language.words().map(str::to_owned).collect(),
            hash: fnv1a,
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
        let keys = pairs.iter().map(|(name, _)| Key { name, nth: 1 }).collect();
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
            Key { name, nth: *nth }
        });
        self.identifiers(keys.collect())
    }

    /// One identifier for each key. Keys are all different.
    fn identifiers(&self, keys: Vec<Key<'_>>) -> Vec<String> {
        let candidates: Vec<Candidate<'_>> =
            keys.into_iter().map(|key| self.candidate(key)).collect();
        let mut identifiers = vec![String::new(); candidates.len()];
        let mut open: Vec<usize> = (0..candidates.len()).collect();
        for form in [Form::Plain, Form::Short, Form::Long] {
            let mut left = Vec::new();
            let mut wanted: BTreeMap<String, Vec<usize>> = BTreeMap::new();
            for index in open {
                match self.form(&candidates[index], form) {
                    Some(identifier) => wanted.entry(identifier).or_default().push(index),
                    None => left.push(index),
                }
            }
            for (identifier, group) in wanted {
                let keeper = match &group[..] {
                    [only] => Some(*only),
                    _ if form == Form::Plain => namesake(&identifier, &group, &candidates),
                    _ => None,
                };
                left.extend(group.into_iter().filter(|index| Some(*index) != keeper));
                if let Some(index) = keeper {
                    identifiers[index] = identifier;
                }
            }
            open = left;
        }
        for index in open {
            identifiers[index] = self.whole(&candidates[index]);
        }
        identifiers
    }

    fn candidate<'n>(&self, key: Key<'n>) -> Candidate<'n> {
        let spelling = spell(&self.language, self.style, key.name, key.nth);
        let squeezed = Key {
            name: &squeezed(key.name),
            ..key
        };
        Candidate {
            key,
            spelling,
            short_hash: folded((self.hash)(&squeezed.bytes())),
            hash: (self.hash)(&key.bytes()),
        }
    }

    /// The identifier that a name wants in this form; `None` if it is not available.
    fn form(&self, candidate: &Candidate<'_>, form: Form) -> Option<String> {
        let spelling = &candidate.spelling;
        let identifier = match form {
            Form::Plain => self.escaped(spelling),
            Form::Short => {
                let digits = format!("{:08x}", candidate.short_hash);
                marked(self.case(), spelling, &digits)
            }
            Form::Long => marked(self.case(), spelling, &format!("{:016x}", candidate.hash)),
        };
        let possible = form != Form::Plain || self.is_plain(&identifier);
        (possible && !self.reserved.contains(&identifier)).then_some(identifier)
    }

    /// The spelling, escaped if it is reserved.
    fn escaped(&self, spelling: &str) -> String {
        if !self.reserved.contains(spelling) {
            return spelling.to_owned();
        }
        let escaped = self.language.escaped_form(spelling);
        escaped.unwrap_or_else(|| format!("{spelling}_"))
    }

    /// Whether the text is an identifier and does not look like a form with a hash.
    fn is_plain(&self, identifier: &str) -> bool {
        self.language.is_identifier(identifier) && !looks_marked(self.case(), identifier)
    }

    /// The form that contains the whole name, which no other name can have.
    fn whole(&self, candidate: &Candidate<'_>) -> String {
        let bytes = candidate.key.bytes();
        let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut digits = format!("{:016x}", candidate.hash);
        loop {
            digits.push('x');
            digits.push_str(&name);
            let identifier = marked(self.case(), &candidate.spelling, &digits);
            // Terminates: the set of reserved words is finite, and the identifier grows.
            if !self.reserved.contains(&identifier) {
                return identifier;
            }
        }
    }

    fn case(&self) -> Case {
        self.language.case_of(self.style)
    }
}

/// Access for the property tests.
#[cfg(all(test, feature = "languages"))]
impl Scope {
    pub(super) fn with_hash(mut self, hash: fn(&[u8]) -> u64) -> Scope {
        self.hash = hash;
        self
    }

    pub(super) fn language(&self) -> &Language {
        &self.language
    }

    /// Whether an identifier is reserved; a keyword's escaped form is not.
    pub(super) fn is_reserved(&self, identifier: &str) -> bool {
        self.reserved.contains(identifier)
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

/// Folds a hash into 32 bits by the exclusive or of its halves, as the authors of FNV-1a advise.
fn folded(hash: u64) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "truncation is intended")]
    let low = hash as u32;
    (hash >> 32) as u32 ^ low
}

/// A name, or one of several equal names in a list.
#[derive(Clone, Copy)]
struct Key<'n> {
    name: &'n str,
    /// From 1.
    nth: usize,
}

impl Key<'_> {
    /// Different for different keys: `0xff` is in no UTF-8 text.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.name.as_bytes().to_vec();
        if self.nth > 1 {
            bytes.push(0xff);
            bytes.extend_from_slice(self.nth.to_string().as_bytes());
        }
        bytes
    }
}

/// Everything that determines a key's identifier, except other names.
struct Candidate<'n> {
    key: Key<'n>,
    spelling: String,
    /// Of the name without the spaces in which compilers differ.
    short_hash: u32,
    hash: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Short,
    Long,
}

/// The name that equals the identifier that the group wants. If there is none, the first name that
/// equals its own spelling. Of `self` and `self_`, which both want `self_`, the latter.
fn namesake(identifier: &str, group: &[usize], all: &[Candidate<'_>]) -> Option<usize> {
    let names = || {
        group
            .iter()
            .copied()
            .filter(|index| all[*index].key.nth == 1)
    };
    let exact = names().find(|index| all[*index].key.name == identifier);
    let unescaped = || {
        names()
            .filter(|index| all[*index].key.name == all[*index].spelling)
            .min_by_key(|index| all[*index].key.name)
    };
    exact.or_else(unescaped)
}
