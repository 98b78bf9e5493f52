//! The description of a target language.

/// The identifiers of a target language: plain data, usually a constant.
///
/// ```
/// use futhark_manifest::names::{Case, Language, Scope, Style};
///
/// const OCAML: Language = Language::new("OCaml")
///     .keywords(&["and", "as", "begin", "end", "fun", "let", "method", "val"])
///     .case(Style::Value, Case::Uncapitalized)
///     .case(Style::Type, Case::Uncapitalized);
///
/// let names = Scope::new(&OCAML, Style::Value).assign(["Mean", "f'", "val"]);
/// assert_eq!(&names["Mean"], "mean");
/// assert_eq!(&names["f'"], "f_prime");
/// assert_eq!(&names["val"], "val_");
///
/// const JULIA: Language = Language::new("Julia")
///     .keywords(&["begin", "end", "function", "struct"])
///     .escape("var\"", "\"");
/// assert_eq!(&Scope::new(&JULIA, Style::Value).assign(["end"])["end"], "var\"end\"");
/// ```
///
/// In a language created by [`new`](Language::new), identifiers are ASCII letters, digits
/// and underscores, without a digit at the beginning, and nothing is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    name: &'static str,
    keywords: &'static [&'static str],
    reserved: &'static [&'static str],
    escape: Option<(&'static str, &'static str)>,
    lead: Option<&'static str>,
    families: &'static [&'static str],
    single_underscores: bool,
    value: Case,
    ty: Case,
    constant: Case,
}

impl Language {
    /// A language without any reserved word, with [`Case::Keep`] for values,
    /// [`Case::Camel`] for types and [`Case::Upper`] for constants.
    #[must_use]
    pub const fn new(name: &'static str) -> Language {
        Language {
            name,
            keywords: &[],
            reserved: &[],
            escape: None,
            lead: None,
            families: &[],
            single_underscores: false,
            value: Case::Keep,
            ty: Case::Camel,
            constant: Case::Upper,
        }
    }

    /// Sets the keywords. As identifiers they get the escaped form if there is one, otherwise an
    /// underscore at the end.
    #[must_use]
    pub const fn keywords(mut self, words: &'static [&'static str]) -> Language {
        self.keywords = words;
        self
    }

    /// Sets words that cannot be escaped: keywords without an escaped form, macros, and so on. They
    /// get an underscore at the end.
    #[must_use]
    pub const fn reserved(mut self, words: &'static [&'static str]) -> Language {
        self.reserved = words;
        self
    }

    /// Sets the escaped form of keywords: between `open` and `close`. Rust has `r#` and an empty
    /// string, Swift a backquote on both sides.
    #[must_use]
    pub const fn escape(mut self, open: &'static str, close: &'static str) -> Language {
        self.escape = Some((open, close));
        self
    }

    /// Forbids underscores at the beginning of identifiers and sets the prefix for identifiers that
    /// would begin with an underscore or a digit: lower-case ASCII letters that do not begin a
    /// [family](Language::families).
    ///
    /// The default prefix, before digits only, is an underscore.
    #[must_use]
    pub const fn lead(mut self, lead: &'static str) -> Language {
        self.lead = Some(lead);
        self
    }

    /// Sets prefixes that are reserved before a capital letter or a digit, as `SIG` and `SIG_` in C.
    /// Identifiers with such a prefix get the [`lead`](Language::lead).
    #[must_use]
    pub const fn families(mut self, beginnings: &'static [&'static str]) -> Language {
        self.families = beginnings;
        self
    }

    /// Forbids two underscores in a row; they are replaced by one.
    #[must_use]
    pub const fn single_underscores(mut self) -> Language {
        self.single_underscores = true;
        self
    }

    /// Sets the case of names of a style.
    #[must_use]
    pub const fn case(mut self, style: Style, case: Case) -> Language {
        match style {
            Style::Value => self.value = case,
            Style::Type => self.ty = case,
            Style::Constant => self.constant = case,
        }
        self
    }

    /// The name of the language.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The case of names of a style.
    #[must_use]
    pub const fn case_of(&self, style: Style) -> Case {
        match style {
            Style::Value => self.value,
            Style::Type => self.ty,
            Style::Constant => self.constant,
        }
    }

    /// Whether the text is a valid identifier. Escaped keywords are.
    ///
    /// ```
    /// use futhark_manifest::names::{C, RUST};
    ///
    /// assert!(RUST.is_identifier("errno") && !C.is_identifier("errno"));
    /// assert!(RUST.is_identifier("r#fn") && !RUST.is_identifier("r#f"));
    /// ```
    #[must_use]
    pub fn is_identifier(&self, text: &str) -> bool {
        let escaped = self.escaped_word(text);
        escaped.is_some_and(|word| self.escaped_form(word).is_some())
            || (self.is_well_formed(text) && !self.words().any(|word| word == text))
    }

    /// Whether the word is a keyword.
    #[must_use]
    pub fn is_keyword(&self, word: &str) -> bool {
        self.keywords.contains(&word)
    }

    /// Whether the text is an identifier or a reserved word.
    fn is_well_formed(&self, text: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        text.chars().all(plain)
            && text.chars().any(|c| c != '_')
            && !self.needs_lead(text)
            && !(self.single_underscores && text.contains("__"))
    }

    /// Whether a text of letters, digits and underscores cannot begin an identifier.
    pub(super) fn needs_lead(&self, text: &str) -> bool {
        let capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit();
        let within = |family: &&str| {
            let rest = text.strip_prefix(*family);
            rest.is_some_and(|rest| rest.starts_with(capital))
        };
        let begins = |c: char| c.is_ascii_digit() || (c == '_' && self.lead.is_some());
        text.starts_with(begins) || self.families.iter().any(within)
    }

    /// The prefix for text that cannot begin an identifier.
    pub(super) fn lead_of(&self, case: Case) -> &'static str {
        match case {
            Case::Camel => "T",
            _ => self.lead.unwrap_or("_"),
        }
    }

    /// Whether two underscores in a row are forbidden.
    pub(super) fn has_single_underscores(&self) -> bool {
        self.single_underscores
    }

    /// All keywords and reserved words.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> {
        self.keywords.iter().chain(self.reserved).copied()
    }

    /// The escaped form of a word, or the word of an escaped form.
    pub(super) fn other_form(&self, identifier: &str) -> Option<String> {
        let word = self.escaped_word(identifier).map(str::to_owned);
        word.or_else(|| self.escaped_form(identifier))
    }

    /// The word in an escaped form.
    fn escaped_word<'t>(&self, text: &'t str) -> Option<&'t str> {
        let (open, close) = self.escape?;
        text.strip_prefix(open)?.strip_suffix(close)
    }

    /// The escaped form of a word, if it has one.
    pub(super) fn escaped_form(&self, word: &str) -> Option<String> {
        let (open, close) = self.escape?;
        let possible = self.keywords.contains(&word) && !self.reserved.contains(&word);
        possible.then(|| format!("{open}{word}{close}"))
    }
}

/// The kind of a name, which determines how the name is split into words, and its [`Case`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// A function, parameter or field.
    Value,
    /// A type, or a variant that is written like one.
    Type,
    /// A constant.
    Constant,
}

/// How the words of a name are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Case {
    /// As they are, an underscore between words: `my_type`, `myType`.
    Keep,
    /// As they are, but without a capital at the beginning: `my_type`, `myType`.
    Uncapitalized,
    /// `MyType`.
    Camel,
    /// `MY_TYPE`.
    Upper,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_recognized() {
        const STRICT: Language = Language::new("strict")
            .keywords(&["if"])
            .reserved(&["self"])
            .escape("`", "`")
            .lead("n")
            .families(&["SIG"])
            .single_underscores();
        for good in ["x", "a_b", "`if`", "Sig", "SIG", "SIGnal", "b2", "b_"] {
            assert!(STRICT.is_identifier(good), "{good}");
        }
        for bad in [
            "", "_", "0", "if", "self", "`self`", "`x`", "_a", "a__b", "SIGA", "SIG2", "f'", "ä",
            "a b", "`if",
        ] {
            assert!(!STRICT.is_identifier(bad), "{bad}");
        }
        let free = Language::new("free");
        assert!(free.is_identifier("_a__b") && free.is_identifier("if"));
        assert_eq!(free.name(), "free");
    }

    #[test]
    fn cases_are_set_for_each_style() {
        let language = Language::new("x").case(Style::Type, Case::Keep);
        assert_eq!(language.case_of(Style::Type), Case::Keep);
        assert_eq!(language.case_of(Style::Value), Case::Keep);
        assert_eq!(language.case_of(Style::Constant), Case::Upper);
    }
}
