//! The description of a target language, and the languages that are described.

/// The identifiers of a target language: plain data, usually a constant.
///
/// Lists of words are texts, with spaces between the words.
///
/// ```
/// use futhark_manifest::names::{Case, Language, Scope, Style};
///
/// const OCAML: Language = Language::new("OCaml")
///     .keywords("and as begin end fun let method val")
///     .case(Style::Value, Case::Uncapitalized)
///     .case(Style::Type, Case::Uncapitalized);
///
/// let names = Scope::new(&OCAML, Style::Value).assign(["Mean", "f'", "val"]);
/// assert_eq!(&names["Mean"], "mean");
/// assert_eq!(&names["f'"], "f_prime");
/// assert_eq!(&names["val"], "val_");
///
/// const JULIA: Language = Language::new("Julia")
///     .keywords("begin end function struct")
///     .escape("var\"", "\"");
/// assert_eq!(&Scope::new(&JULIA, Style::Value).assign(["end"])["end"], "var\"end\"");
/// ```
///
/// In a language created by [`new`](Language::new), identifiers are ASCII letters, digits
/// and underscores, without a digit at the beginning, and nothing is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    name: &'static str,
    keywords: &'static str,
    reserved: &'static str,
    escape: Option<(&'static str, &'static str)>,
    lead: Option<&'static str>,
    families: &'static str,
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
            keywords: "",
            reserved: "",
            escape: None,
            lead: None,
            families: "",
            single_underscores: false,
            value: Case::Keep,
            ty: Case::Camel,
            constant: Case::Upper,
        }
    }

    /// Sets the keywords. As identifiers they get the escaped form if there is one, otherwise an
    /// underscore at the end.
    #[must_use]
    pub const fn keywords(mut self, words: &'static str) -> Language {
        self.keywords = words;
        self
    }

    /// Sets words that cannot be escaped: keywords without an escaped form, macros, and so on. They
    /// get an underscore at the end.
    #[must_use]
    pub const fn reserved(mut self, words: &'static str) -> Language {
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
    pub const fn families(mut self, beginnings: &'static str) -> Language {
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
        list(self.keywords).any(|own| own == word)
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
        let within = |family| {
            let rest = text.strip_prefix(family);
            rest.is_some_and(|rest| rest.starts_with(capital))
        };
        let begins = |c: char| c.is_ascii_digit() || (c == '_' && self.lead.is_some());
        text.starts_with(begins) || list(self.families).any(within)
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
        list(self.keywords).chain(list(self.reserved))
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
        let possible = self.is_keyword(word) && list(self.reserved).all(|own| own != word);
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

fn list(words: &'static str) -> impl Iterator<Item = &'static str> {
    words.split_ascii_whitespace()
}

/// Rust, edition 2024.
pub const RUST: Language = Language::new("Rust")
    .keywords(
        "abstract as async await become box break const continue do dyn else enum extern false \
        final fn for gen if impl in let loop macro match mod move mut override priv pub ref \
        return static struct trait true try type typeof unsafe unsized use virtual where while \
        yield",
    )
    .escape("r#", "")
    // They have no escaped form.
    .reserved("Self crate self super");

/// C23.
///
/// Reserved are the keywords of C23 and those that compilers add in their default
/// mode, the macros of the standard headers that replace a name without parentheses or
/// have no function of the same name, and the prefixes that the standard reserves for
/// macros. Names with a leading underscore or two underscores in a row belong to the
/// implementation, so they are never assigned.
///
/// The functions and types of the standard library are not reserved, because they matter
/// only at file scope: names there should begin with a prefix of the program, as the names
/// that Futhark generates do. For a header that C++ can include too, reserve
/// [`CPP_KEYWORDS`].
pub const C: Language = Language::new("C")
    .keywords(
        "alignas alignof asm auto bool break case char const constexpr continue default do double \
        else enum extern false float for goto if inline int long nullptr register restrict \
        return short signed sizeof static static_assert struct switch thread_local true typedef \
        typeof typeof_unqual union unsigned void volatile while",
    )
    .reserved(
        "and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq I complex imaginary \
        noreturn NULL errno math_errhandling INFINITY NAN HUGE_VAL HUGE_VALF HUGE_VALL \
        MATH_ERREXCEPT MATH_ERRNO DECIMAL_DIG stderr stdin stdout BUFSIZ EOF FILENAME_MAX \
        FOPEN_MAX L_tmpnam SEEK_CUR SEEK_END SEEK_SET TMP_MAX EXIT_FAILURE EXIT_SUCCESS \
        MB_CUR_MAX MB_LEN_MAX RAND_MAX CLOCKS_PER_SEC TIME_UTC ONCE_FLAG_INIT \
        TSS_DTOR_ITERATIONS WEOF assert offsetof setjmp unreachable va_arg va_copy va_end \
        va_start i386 linux unix",
    )
    .families(
        "ATOMIC_ BOOL_ CHAR_ DBL_ DEC E FE_ FLT_ FP_ INT INT_ LC_ LDBL_ LLONG_ LONG_ PRIX PRIb \
        PRId PRIi PRIo PRIu PRIx PTRDIFF_ SCHAR_ SCNb SCNd SCNi SCNo SCNu SCNx SHRT_ SIG SIG_ \
        SIZE_ UCHAR_ UINT UINT_ ULLONG_ ULONG_ USHRT_ WCHAR_ WINT_",
    )
    .lead("x")
    .single_underscores()
    .case(Style::Type, Case::Keep);

/// The words that are keywords in C++ (up to C++23) and not in C.
#[cfg(feature = "languages")]
pub const CPP_KEYWORDS: &str = "catch char16_t char32_t char8_t class co_await co_return co_yield concept const_cast \
    consteval constinit decltype delete dynamic_cast explicit export final friend import module \
    mutable namespace new noexcept operator override private protected public reinterpret_cast \
    requires static_cast template this throw try typeid typename using virtual wchar_t";

/// Python 3.
///
/// Names with two underscores in a row have a meaning in classes (`__init__`, `__x`),
/// so they are never assigned. Built-in names are ordinary identifiers and not reserved; see
/// [`PYTHON_BUILTINS`].
///
/// Python has one scope for types and values, so name the types first:
///
/// ```
/// use futhark_manifest::names::{PYTHON, PYTHON_BUILTINS, Scope, Style};
///
/// let types = Scope::new(&PYTHON, Style::Type).reserve(["Context"]).assign(["pt", "context"]);
/// let values = Scope::new(&PYTHON, Style::Value)
///     .reserve(["Context"])
///     .reserve(types.identifiers())
///     .reserve(PYTHON_BUILTINS.split(' '))
///     .assign(["sum", "Pt", "lambda"]);
/// assert_eq!(&types["context"], "Context_");
/// assert_eq!(&values["sum"], "sum_");
/// assert_eq!(&values["Pt"], "Pt_");
/// assert_eq!(&values["lambda"], "lambda_");
/// ```
#[cfg(feature = "languages")]
pub const PYTHON: Language = Language::new("Python")
    .keywords(
        "False None True and as assert async await break class continue def del elif else except \
        finally for from global if import in is lambda nonlocal not or pass raise return try \
        while with yield",
    )
    .single_underscores();

/// The built-in names of Python (3.8 to 3.14). A module or function that defines one of them
/// hides the built-in.
#[cfg(feature = "languages")]
pub const PYTHON_BUILTINS: &str = "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup \
    BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError \
    ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError \
    DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception \
    ExceptionGroup FileExistsError FileNotFoundError FloatingPointError FutureWarning \
    GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError \
    IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError \
    NameError NotADirectoryError NotImplemented NotImplementedError OSError OverflowError \
    PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError \
    RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration \
    StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError \
    TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError \
    UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning WindowsError \
    ZeroDivisionError abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable \
    chr classmethod compile complex delattr dict dir divmod enumerate eval exec filter float \
    format frozenset getattr globals hasattr hash hex id input int isinstance issubclass iter \
    len list locals map max memoryview min next object oct open ord pow print property range \
    repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_recognized() {
        const STRICT: Language = Language::new("strict")
            .keywords("if")
            .reserved("self")
            .escape("`", "`")
            .lead("n")
            .families("SIG")
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
