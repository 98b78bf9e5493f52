//! A small parser of C declarations, sufficient for generated headers. It accepts any
//! text, in linear time and without recursion.

use std::iter::Peekable;

use super::ctype::{CType, Primitive};
use super::header::{Declaration, DeclaredParameter, Define, Header, StructDeclaration, Unread};
use super::tokens::{Token, TokenKind, tokens};

pub(super) fn header(text: &str) -> Header {
    let mut parser = Parser {
        tokens: tokens(text).peekable(),
        header: Header::default(),
        linkage_blocks: 0,
        excerpt: Excerpt::default(),
    };
    parser.run();
    parser.header
}

/// More stars in a row than generated headers have. Limits the recursion over types.
const MAX_POINTERS: usize = 8;

/// The maximum number of characters of the excerpt of an unread part.
const EXCERPT: usize = 60;

struct Parser<'a, I: Iterator<Item = Token<'a>>> {
    tokens: Peekable<I>,
    header: Header,
    /// The number of open `extern "C" {` blocks.
    linkage_blocks: usize,
    /// The text of the current statement so far.
    excerpt: Excerpt,
}

/// The parser does not know this kind of statement.
struct NotUnderstood;

impl<'a, I: Iterator<Item = Token<'a>>> Parser<'a, I> {
    fn run(&mut self) {
        while let Some(&first) = self.tokens.peek() {
            match (first.kind, first.text) {
                (TokenKind::Directive, text) => {
                    self.tokens.next();
                    self.header.defines.extend(define(text, first.line));
                }
                (_, ";") => {
                    self.tokens.next();
                }
                (_, "}") if self.linkage_blocks > 0 => {
                    self.tokens.next();
                    self.linkage_blocks -= 1;
                }
                _ => {
                    self.excerpt.0.clear();
                    if self.statement(first).is_err() {
                        self.recover();
                        self.header.unread.push(Unread {
                            line: first.line,
                            text: self.excerpt.0.clone(),
                        });
                    }
                }
            }
        }
    }

    fn statement(&mut self, first: Token<'a>) -> Result<(), NotUnderstood> {
        if self.accept("extern") && self.accept_kind(TokenKind::Text).is_some() && self.accept("{")
        {
            self.linkage_blocks += 1;
            return Ok(());
        }
        let base = self.base_type()?;
        if let CType::Struct(tag) = &base
            && self.accept(";")
        {
            let (tag, line) = (tag.clone(), first.line);
            self.header.structs.push(StructDeclaration { tag, line });
            return Ok(());
        }
        let result = self.pointers(base)?;
        let name = self.word()?.to_owned();
        self.expect("(")?;
        let parameters = self.parameters()?;
        self.expect(";")?;
        self.header.declarations.push(Declaration {
            name,
            result,
            parameters,
            line: first.line,
        });
        Ok(())
    }

    /// The parameters and the closing parenthesis.
    fn parameters(&mut self) -> Result<Vec<DeclaredParameter>, NotUnderstood> {
        let mut parameters: Vec<DeclaredParameter> = Vec::new();
        if self.accept(")") {
            return Ok(parameters);
        }
        loop {
            let base = self.base_type()?;
            let mut ty = self.pointers(base)?;
            let name = self.accept_kind(TokenKind::Word);
            if self.accept("[") {
                // An array as a parameter is a pointer.
                self.accept_kind(TokenKind::Other);
                self.expect("]")?;
                ty = ty.pointer();
            }
            parameters.push(DeclaredParameter {
                name: name.map(str::to_owned),
                ty,
            });
            if self.accept(")") {
                break;
            }
            self.expect(",")?;
        }
        if let [
            DeclaredParameter {
                name: None,
                ty: CType::Void,
            },
        ] = &parameters[..]
        {
            parameters.clear();
        }
        Ok(parameters)
    }

    /// A type without its stars.
    fn base_type(&mut self) -> Result<CType, NotUnderstood> {
        let mut constant = false;
        let mut words = BasicType::default();
        let mut ty = None;
        while let Some(&token) = self
            .tokens
            .peek()
            .filter(|token| token.kind == TokenKind::Word)
        {
            if token.text == "const" {
                constant = true;
            } else if ty.is_none() && words.take(token.text) {
                // More words of the type may follow.
            } else if ty.is_some() || !words.is_empty() {
                // The declared name.
                break;
            } else if token.text == "struct" {
                self.next();
                ty = Some(CType::structure(self.word()?));
                continue;
            } else if is_keyword(token.text) {
                return Err(NotUnderstood);
            } else {
                ty = Some(named(token.text));
            }
            self.next();
        }
        let ty = match ty {
            Some(ty) => ty,
            None => words.ty().ok_or(NotUnderstood)?,
        };
        Ok(if constant { ty.constant() } else { ty })
    }

    fn pointers(&mut self, mut ty: CType) -> Result<CType, NotUnderstood> {
        let mut count = 0;
        loop {
            if self.accept("*") {
                count += 1;
                if count > MAX_POINTERS {
                    return Err(NotUnderstood);
                }
                ty = ty.pointer();
            } else if count > 0 && self.accept("const") {
                ty = ty.constant();
            } else if count == 0 || !self.accept("restrict") {
                return Ok(ty);
            }
        }
    }

    /// Skips an unknown statement: up to its semicolon, or the closing brace of a
    /// function.
    fn recover(&mut self) {
        let mut depth = 0_usize;
        let mut needs_semicolon = false;
        while let Some(&token) = self.tokens.peek() {
            let at_end = match token.text {
                _ if token.kind == TokenKind::Directive => {
                    if depth == 0 {
                        return;
                    }
                    self.header.defines.extend(define(token.text, token.line));
                    false
                }
                ";" => depth == 0,
                "{" => {
                    needs_semicolon |= self.excerpt.begins_like_a_type();
                    depth += 1;
                    false
                }
                "}" if depth == 0 => {
                    if self.linkage_blocks > 0 {
                        return;
                    }
                    true
                }
                "}" => {
                    depth -= 1;
                    depth == 0 && !needs_semicolon
                }
                "=" => {
                    // The braces of an initializer are not a body.
                    needs_semicolon = true;
                    false
                }
                _ => false,
            };
            self.next();
            if at_end {
                return;
            }
        }
    }

    fn word(&mut self) -> Result<&'a str, NotUnderstood> {
        match self.tokens.peek() {
            Some(token) if is_keyword(token.text) => Err(NotUnderstood),
            _ => self.accept_kind(TokenKind::Word).ok_or(NotUnderstood),
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), NotUnderstood> {
        if self.accept(text) {
            Ok(())
        } else {
            Err(NotUnderstood)
        }
    }

    fn accept(&mut self, text: &str) -> bool {
        let kinds = [TokenKind::Word, TokenKind::Punctuation];
        let next = self.tokens.peek();
        let fits = next.is_some_and(|token| kinds.contains(&token.kind) && token.text == text);
        if fits {
            self.next();
        }
        fits
    }

    fn accept_kind(&mut self, kind: TokenKind) -> Option<&'a str> {
        let text = self.tokens.peek().filter(|token| token.kind == kind)?.text;
        self.next();
        Some(text)
    }

    fn next(&mut self) {
        if let Some(token) = self.tokens.next() {
            self.excerpt.push(token.text);
        }
    }
}

/// The first words of a statement, for a message.
#[derive(Default)]
struct Excerpt(String);

impl Excerpt {
    fn push(&mut self, text: &str) {
        if self.0.len() >= EXCERPT {
            return;
        }
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        // A token may be as long as the text.
        self.0
            .extend(text.chars().take(EXCERPT - self.0.len().min(EXCERPT)));
    }

    /// Whether braces in the statement contain the members of a type.
    fn begins_like_a_type(&self) -> bool {
        let first = self.0.split(' ').next();
        first.is_some_and(|word| ["typedef", "struct", "union", "enum"].contains(&word))
            && !self.0.contains('(')
    }
}

/// The macro that a directive defines, if it defines one.
fn define(directive: &str, line: usize) -> Option<Define> {
    let rest = directive.trim_start().strip_prefix("define")?;
    let rest = rest
        .strip_prefix(|c: char| c.is_ascii_whitespace())?
        .trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let (name, value) = rest.split_at(end.unwrap_or(rest.len()));
    // A trailing comment does not belong to the value.
    let value = value.split("//").next().unwrap_or_default();
    let value = value.split("/*").next().unwrap_or_default();
    (!name.is_empty()).then(|| Define {
        name: name.to_owned(),
        value: value.trim().to_owned(),
        line,
    })
}

/// The words of a type such as `unsigned long int`, which come in any order.
#[derive(Default)]
struct BasicType<'a> {
    sign: Option<&'a str>,
    size: Option<&'a str>,
    long_long: bool,
    base: Option<&'a str>,
}

impl<'a> BasicType<'a> {
    /// Accepts a word that can be part of the type.
    fn take(&mut self, word: &'a str) -> bool {
        let slot = match word {
            "signed" | "unsigned" => &mut self.sign,
            "long" if self.size == Some("long") && !self.long_long => {
                self.long_long = true;
                return true;
            }
            "short" | "long" => &mut self.size,
            "void" | "char" | "int" | "float" | "double" | "bool" | "_Bool" => &mut self.base,
            _ => return false,
        };
        let free = slot.is_none();
        if free {
            *slot = Some(word);
        }
        free
    }

    fn is_empty(&self) -> bool {
        self.sign.is_none() && self.size.is_none() && self.base.is_none()
    }

    fn ty(&self) -> Option<CType> {
        if self.is_empty() {
            return None;
        }
        let sized = self.sign.is_some() || self.size.is_some();
        match self.base {
            Some("void") if !sized => return Some(CType::Void),
            Some("bool" | "_Bool") if !sized => return Some(named("bool")),
            Some("char" | "int" | "double") | None => {}
            Some("float") if !sized => {}
            Some(_) => return None,
        }
        let longs = if self.long_long { Some("long") } else { None };
        // `signed` and `int` are redundant next to another word.
        let base = self.base.filter(|&base| base != "int" || !sized);
        let sign = self
            .sign
            .filter(|&sign| sign == "unsigned" || self.base == Some("char"));
        let words = [sign, self.size, longs, base].into_iter().flatten();
        let words: Vec<&str> = words.collect();
        Some(if words.is_empty() {
            CType::INT
        } else {
            named(&words.join(" "))
        })
    }
}

fn named(name: &str) -> CType {
    match Primitive::from_name(name) {
        Some(primitive) => CType::Primitive(primitive),
        None => CType::Named(name.to_owned()),
    }
}

/// Keywords, which are not names. The caller has handled the known ones before.
fn is_keyword(word: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "auto", "bool", "char", "const", "double", "enum", "extern", "float", "inline", "int",
        "long", "register", "restrict", "short", "signed", "static", "struct", "typedef", "union",
        "unsigned", "void", "volatile", "_Bool",
    ];
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Backend;

    fn declared(text: &str) -> Vec<String> {
        let header = Header::parse(text);
        assert_eq!(header.unread, [], "{text}");
        header
            .declarations
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn prototypes_round_trip() {
        for text in [
            "int f(void);",
            "const char *name(int);",
            "struct a *f(const struct b *const x, void **p, size_t *n);",
            "cl_mem f(cl_command_queue queue, unsigned char *data, FILE *f);",
            "const int64_t *shape(struct futhark_context *ctx, bool *const *x);",
            "unsigned long long f(signed char c, long double d, unsigned short s);",
        ] {
            assert_eq!(declared(text), [text]);
        }
    }

    #[test]
    fn spellings_of_a_type_are_normalised() {
        for (text, same) in [
            ("int f();", "int f(void);"),
            ("extern int f(int const*x);", "int f(const int *x);"),
            (
                "extern \"C\" signed f(long int unsigned x);",
                "int f(unsigned long x);",
            ),
            (
                "_Bool f(int x[3], char *restrict y);",
                "bool f(int *x, char *y);",
            ),
            (
                "long unsigned long\nf(short int);",
                "unsigned long long f(short);",
            ),
        ] {
            assert_eq!(declared(text), [same]);
        }
    }

    #[test]
    fn linkage_blocks_structs_and_macros_are_parsed() {
        let header = Header::parse(
            "#pragma once\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nstruct a;\n\
             int f(void);\n#define FUTHARK_BACKEND_opencl\n# define X  3 // three\n\
             #ifdef __cplusplus\n}\n#endif\n",
        );
        assert_eq!(header.unread, []);
        assert_eq!(header.structs.len(), 1);
        assert_eq!((&*header.structs[0].tag, header.structs[0].line), ("a", 5));
        assert_eq!(header.declarations[0].line, 6);
        assert_eq!(header.backend(), Some(Backend::OpenCl));
        let x = &header.defines[1];
        assert_eq!((&*x.name, &*x.value, x.line), ("X", "3", 8));
    }

    #[test]
    fn unknown_statements_are_reported_and_skipped() {
        for (text, unread) in [
            ("typedef int t;", "typedef int t ;"),
            (
                "struct s { int x; int (*f)(void); };",
                "struct s { int x ; int ( * f ) ( void ) ; } ;",
            ),
            (
                "static inline int g(void) { if (1) { return 1; } }",
                "static inline int g ( void ) { if ( 1 ) { return 1 ; } }",
            ),
            ("int h(int, ...);", "int h ( int , . . . ) ;"),
            ("int (*pointer)(void);", "int ( * pointer ) ( void ) ;"),
            ("int table[] = { 1, 2 };", "int table [ ] = { 1 , 2 } ;"),
            (
                "typedef struct { int x; } s;",
                "typedef struct { int x ; } s ;",
            ),
            ("float short f(void);", "float short f ( void ) ;"),
            ("é f(int x);", "é f ( int x ) ;"),
            ("}", "}"),
        ] {
            let header = Header::parse(&format!("int a(void);\n{text}\nint b(void);\n"));
            let names: Vec<_> = header
                .declarations
                .iter()
                .map(|found| &*found.name)
                .collect();
            assert_eq!(names, ["a", "b"], "{text}");
            assert_eq!(header.unread.len(), 1, "{text}: {:?}", header.unread);
            assert_eq!(header.unread[0].line, 2, "{text}");
            assert!(
                unread.starts_with(&header.unread[0].text),
                "{text}: {:?}",
                header.unread
            );
        }
    }

    #[test]
    fn long_and_odd_texts_are_accepted() {
        let long = 200_000;
        for text in [
            "*".repeat(long),
            format!("int {}f(void);", "*".repeat(long)),
            format!("int f{}", "(".repeat(long)),
            format!("int f({}int);", "int *x, ".repeat(long)),
            "{".repeat(long),
            "extern \"C\" {".repeat(long),
            "\"".repeat(long),
            "/*".repeat(long),
            "#define /*\n".repeat(long),
            "unsigned ".repeat(long),
            format!("struct {};", "é".repeat(long)),
        ] {
            let header = Header::parse(&text);
            for unread in &header.unread {
                assert!(unread.text.chars().count() <= EXCERPT + 1);
            }
        }
    }
}
