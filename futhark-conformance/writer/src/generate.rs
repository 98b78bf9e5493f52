//! Random programs that are well typed, end, and have one result for each input; `grammar.txt` says what they consist of.
//!
//! Expressions are total, except for statements that can fail. Floats are small integers and halves, so that no
//! operation rounds. What is known to fail is only written if `wild` is set.

use fastrand::Rng;
use std::collections::BTreeMap;

const GRAMMAR: &str = include_str!("grammar.txt");
const INTS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
const OPAQUE: [&str; 4] = ["rec", "nest", "sum", "flag"];

/// The source of a seed's program, with inputs but without results.
pub fn generate(seed: u64, wild: bool) -> String {
    let mut sections: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    let (mut text, mut section) = (String::new(), "");
    let is_content = |line: &&str| !line.starts_with('#') && !line.is_empty();
    for line in GRAMMAR.lines().filter(is_content) {
        match (line.strip_prefix("== "), section) {
            (Some(name), _) => section = name,
            (None, "prelude") => text += &format!("{line}\n"),
            _ => sections.entry(section).or_default().push(Row::parse(line)),
        }
    }
    let rng = Rng::with_seed(seed);
    let functions = Vec::new();
    let mut made = Generator {
        rng,
        sections,
        functions,
        next: 0,
        wild,
    };
    for _ in 0..made.rng.usize(1..3) {
        text += &made.function(false);
    }
    for _ in 0..made.rng.usize(3..7) {
        text += &made.function(true);
    }
    text
}

struct Generator {
    rng: Rng,
    sections: BTreeMap<&'static str, Vec<Row>>,
    functions: Vec<Function>,
    next: usize,
    wild: bool,
}

#[derive(Clone, Copy)]
struct Row {
    result: &'static str,
    picks: &'static str,
    template: &'static str,
}

/// Types are texts such as `[n_1][2]i32`.
struct Function {
    name: String,
    sizes: Vec<String>,
    /// Types, and whether the arguments are consumed.
    params: Vec<(String, bool)>,
    results: Vec<String>,
}

#[derive(Clone)]
struct Var {
    name: String,
    ty: String,
    is_param: bool,
    /// It has memory of its own, and no other variable refers to it.
    is_fresh: bool,
}

/// What can be referred to.
#[derive(Clone, Default)]
struct Scope {
    vars: Vec<Var>,
    sizes: Vec<String>,
    depth: usize,
    is_parallel: bool,
}

/// The text and the type of what a row names, and the sizes of its results.
#[derive(Default)]
struct Names {
    known: BTreeMap<String, (String, String)>,
    new_sizes: Vec<String>,
}

impl Row {
    fn parse(line: &'static str) -> Row {
        let fields: Vec<_> = line.splitn(3, '|').map(str::trim).collect();
        let [result, picks, template] = fields[..] else {
            panic!("a row has three fields: {line}");
        };
        Row {
            result,
            picks,
            template,
        }
    }
}

impl Var {
    fn new(name: &str, ty: &str) -> Var {
        let (name, ty) = (name.to_owned(), ty.to_owned());
        Var {
            name,
            ty,
            is_param: false,
            is_fresh: false,
        }
    }
}

fn first_dim(ty: &str) -> Option<&str> {
    ty.strip_prefix('[')?.split_once(']').map(|(dim, _)| dim)
}

fn row(ty: &str) -> &str {
    ty.split_once(']').map_or(ty, |(_, row)| row)
}

fn elem(ty: &str) -> &str {
    ty.rsplit(']').next().unwrap_or(ty)
}

fn rank(ty: &str) -> usize {
    ty.matches('[').count()
}

impl Generator {
    fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())].clone()
    }

    fn one_in(&mut self, count: u8) -> bool {
        self.rng.u8(..count) == 0
    }

    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}_{}", self.next)
    }

    fn elem(&mut self, is_prim: bool) -> String {
        if !is_prim && self.one_in(4) {
            return self.choose(&OPAQUE).to_owned();
        }
        // Futhark 0.25 loses f16 results on multicore.
        match self.rng.u8(if self.wild { 0 } else { 1 }..12) {
            0 => "f16".to_owned(),
            1 => "bool".to_owned(),
            2 => "f32".to_owned(),
            3 => "f64".to_owned(),
            int => INTS[usize::from(int) - 4].to_owned(),
        }
    }

    fn size(&mut self, scope: &Scope) -> String {
        match self.one_in(6) {
            true => self.rng.u8(1..5).to_string(),
            false => self.choose(&scope.sizes),
        }
    }

    fn function(&mut self, is_entry: bool) -> String {
        let name = self.name(if is_entry { "main" } else { "call" });
        let sizes: Vec<_> = (0..self.rng.usize(1..3)).map(|_| self.name("n")).collect();
        let mut scope = Scope::default();
        scope.sizes.clone_from(&sizes);
        let mut head: String = sizes.iter().map(|size| format!(" [{size}]")).collect();
        let mut params = Vec::new();
        // Each size is that of a parameter.
        let needed = sizes
            .iter()
            .map(|size| format!("[{size}]"))
            .collect::<Vec<_>>();
        for i in 0..sizes.len() + self.rng.usize(1..4) {
            let mut ty = needed.get(i).cloned().unwrap_or_default();
            for _ in 0..self.choose(&[0, 0, 1, 1, 2]) {
                ty += &self.choose(&needed);
            }
            ty += &self.elem(is_entry);
            if i == sizes.len() && is_entry {
                "i64".clone_into(&mut ty);
            }
            let is_fresh = rank(&ty) > 0 && self.one_in(3);
            let name = self.name("x");
            head += &format!(" ({name}: {}{ty})", if is_fresh { "*" } else { "" });
            params.push((ty.clone(), is_fresh));
            scope.vars.push(Var {
                name,
                ty,
                is_param: true,
                is_fresh,
            });
        }
        let (mut body, mut returned) = (String::new(), Vec::new());
        for _ in 0..self.rng.usize(3..8) {
            let can_fail = is_entry && self.one_in(6);
            let section = if can_fail { "failing" } else { "statements" };
            let Some(stmt) = self.stmt(&mut scope, section, 2) else {
                continue;
            };
            body += &stmt;
            if let Some(var) = scope.vars.last_mut().filter(|_| can_fail) {
                var.is_fresh = false;
                returned.push(var.clone());
            }
        }
        let wanted = returned.len() + self.rng.usize(1..4);
        for var in scope.vars.iter().rev() {
            let is_new = returned.iter().all(|other: &Var| other.name != var.name);
            if is_new && !var.is_param && rank(&var.ty) < 4 && returned.len() < wanted {
                returned.push(var.clone());
            }
        }
        let (mut results, mut values) = (Vec::new(), Vec::new());
        for Var { name, mut ty, .. } in returned {
            let elem = elem(&ty).to_owned();
            let mut value = name;
            if is_entry && OPAQUE.contains(&elem.as_str()) {
                let wrap = |digest, _| format!("(map {digest})");
                let digest = (0..rank(&ty)).fold(format!("digest_{elem}"), wrap);
                value = format!("{digest} {value}");
                ty = ty.replace(&elem, "i64");
            }
            // Only own sizes have names outside.
            for size in scope.sizes.iter().filter(|size| !sizes.contains(size)) {
                ty = ty.replace(&format!("[{size}]"), "[]");
            }
            results.push(ty);
            values.push(value);
        }
        if values.is_empty() {
            return String::new();
        }
        let (types, values) = (results.join(", "), values.join(", "));
        let rest = format!(" {name}{head} : ({types}) ={body}\n  in ({values})\n");
        if is_entry {
            return format!("\n{}entry{rest}", self.inputs(&name, &sizes, &params));
        }
        self.functions.push(Function {
            name,
            sizes,
            params,
            results,
        });
        format!("\ndef{rest}")
    }

    fn inputs(&mut self, name: &str, sizes: &[String], params: &[(String, bool)]) -> String {
        let mut text = format!("-- ==\n-- entry: {name}\n");
        let is_flat = params.iter().all(|(ty, _)| rank(ty) < 2);
        for _ in 0..6 {
            let is_large = is_flat && self.one_in(20);
            let extents: BTreeMap<_, usize> = sizes
                .iter()
                .map(|size| match is_large {
                    true => (size.as_str(), 300),
                    false => (size.as_str(), self.choose(&[0, 1, 1, 2, 3, 4, 5, 9])),
                })
                .collect();
            let values = params.iter().map(|(ty, _)| self.input(ty, &extents));
            text += &format!("-- input {{ {} }}\n", values.collect::<Vec<_>>().join(" "));
        }
        text
    }

    fn input(&mut self, ty: &str, extents: &BTreeMap<&str, usize>) -> String {
        let Some(dim) = first_dim(ty) else {
            return self.number(ty);
        };
        let is_empty =
            |(size, extent): (&&str, &usize)| *extent == 0 && ty.contains(&format!("[{size}]"));
        if extents.iter().any(is_empty) {
            let fill = |ty: String, (size, extent): (&&str, &usize)| {
                ty.replace(&format!("[{size}]"), &format!("[{extent}]"))
            };
            return format!("empty({})", extents.iter().fold(ty.to_owned(), fill));
        }
        let rows = (0..extents[dim]).map(|_| self.input(row(ty), extents));
        format!("[{}]", rows.collect::<Vec<_>>().join(", "))
    }

    fn number(&mut self, elem: &str) -> String {
        let small = self.rng.i8(-4..12);
        let Ok(bits) = elem[1..].parse::<u32>() else {
            return (small > 4).to_string();
        };
        let is_extreme = self.one_in(12);
        match &elem[..1] {
            "f" => format!("{}.{}{elem}", small.abs(), self.choose(&[0, 5])),
            "u" if is_extreme => format!("{}{elem}", u64::MAX >> (64 - bits)),
            "u" => format!("{}{elem}", small.abs()),
            _ if is_extreme => {
                let extreme = self.choose(&[i64::MAX, i64::MIN + 1]);
                format!("{}{elem}", extreme >> (64 - bits))
            }
            _ => format!("{small}{elem}"),
        }
    }

    /// A statement, whose variables are then in scope.
    fn stmt(&mut self, scope: &mut Scope, section: &str, indent: usize) -> Option<String> {
        if section == "statements" && scope.depth == 0 && self.one_in(8) {
            return self.call(scope, indent);
        }
        let row = self.rng.choice(&self.sections[section]).copied()?;
        let mut names = Names::default();
        self.pick(row, &mut names, scope)?;
        let text = self.expand(row.template, &mut names, scope, 3, indent)?;
        let mut results = Vec::new();
        for result in row.result.split(", ") {
            let ty = self.ty(result.trim_start_matches('*'), &mut names)?;
            results.push((ty, result.starts_with('*')));
        }
        Some(self.bind(scope, &text, results, &names.new_sizes, indent))
    }

    /// `let` with new variables, and `own NAME ` for the arguments that the text consumes.
    fn bind(
        &mut self,
        scope: &mut Scope,
        text: &str,
        results: Vec<(String, bool)>,
        sizes: &[String],
        indent: usize,
    ) -> String {
        scope
            .vars
            .retain(|var| !text.contains(&format!("own {} ", var.name)));
        // A result can refer to the memory of what the text names.
        for var in &mut scope.vars {
            var.is_fresh &= !text.contains(&var.name);
        }
        let mut vars = Vec::new();
        for (ty, is_new) in results {
            let is_fresh = is_new && rank(&ty) > 0;
            let var = Var {
                is_fresh,
                ..Var::new(&self.name("v"), &ty)
            };
            vars.push(format!("{}: {ty}", var.name));
            scope.vars.push(var);
        }
        scope.sizes.extend_from_slice(sizes);
        let sizes: String = sizes.iter().map(|size| format!("[{size}] ")).collect();
        let (margin, text) = (" ".repeat(indent), text.replace("own ", ""));
        format!("\n{margin}let {sizes}({}) = {text}", vars.join(", "))
    }

    /// Chooses what the picks of a row stand for; `None` if there is nothing fitting.
    fn pick(&mut self, row: Row, names: &mut Names, scope: &Scope) -> Option<()> {
        for pick in row
            .picks
            .split(',')
            .map(str::trim)
            .filter(|pick| !pick.is_empty())
        {
            let (name, kind) = pick.split_once(' ').unwrap_or(("", pick));
            let chosen = match kind {
                "flat" if scope.is_parallel => return None,
                "top" if scope.depth > 0 => return None,
                "wild" if !self.wild => return None,
                "flat" | "top" | "wild" => continue,
                "size" => (self.size(scope), "i64".to_owned()),
                "int" => (String::new(), self.choose(&INTS).to_owned()),
                "prim" => (String::new(), self.elem(true)),
                "type" if self.one_in(4) => (
                    String::new(),
                    format!("[{}]{}", self.size(scope), self.elem(false)),
                ),
                "type" => (String::new(), self.elem(false)),
                _ => self.pick_var(kind, names, scope)?,
            };
            names.known.insert(name.to_owned(), chosen);
        }
        Some(())
    }

    fn pick_var(&mut self, kind: &str, names: &Names, scope: &Scope) -> Option<(String, String)> {
        let (is_own, kind) = match kind.strip_prefix("own ") {
            Some(kind) => (true, kind),
            None => (false, kind),
        };
        let vars: Vec<_> = scope
            .vars
            .iter()
            .filter(|var| fits(var, kind, names))
            .collect();
        let is_free =
            |var: &&&Var| var.is_fresh && names.known.values().all(|(text, _)| *text != var.name);
        let fresh: Vec<_> = vars.iter().filter(is_free).copied().collect();
        if let Some(var) = self.rng.choice(fresh).filter(|_| is_own) {
            return Some((format!("own {} ", var.name), var.ty.clone()));
        }
        let var = self.rng.choice(vars)?;
        let text = if is_own {
            format!("(copy {})", var.name)
        } else {
            var.name.clone()
        };
        Some((text, var.ty.clone()))
    }

    /// The type that a text of the grammar means.
    fn ty(&mut self, text: &str, names: &mut Names) -> Option<String> {
        if let Some(dim) = first_dim(text) {
            let dim = match names.known.get(dim) {
                Some((size, _)) => size.clone(),
                None if ["m", "k"].contains(&dim) => {
                    names.new_sizes.push(self.name("m"));
                    names.new_sizes.last()?.clone()
                }
                None => match dim.strip_suffix(".n") {
                    Some(path) => first_dim(&self.ty(path, names)?)?.to_owned(),
                    None => dim.to_owned(),
                },
            };
            return Some(format!("[{dim}]{}", self.ty(row(text), names)?));
        }
        Some(match text.rsplit_once('.') {
            Some((path, "r")) => row(&self.ty(path, names)?).to_owned(),
            Some((path, _)) => elem(&self.ty(path, names)?).to_owned(),
            None => names.known.get(text).map_or(text, |(_, ty)| ty).to_owned(),
        })
    }

    /// Fills the holes of a template.
    fn expand(
        &mut self,
        template: &str,
        names: &mut Names,
        scope: &Scope,
        depth: usize,
        indent: usize,
    ) -> Option<String> {
        let mut outer = scope.clone();
        let owned = |var: &Var| {
            names
                .known
                .values()
                .any(|(text, _)| *text == format!("own {} ", var.name))
        };
        outer.vars.retain(|var| !owned(var));
        let mut inner = outer.clone();
        let mut pieces = template.split("${");
        let mut text = pieces.next()?.to_owned();
        for piece in pieces {
            let (hole, rest) = piece.split_once('}')?;
            if let Some(ty) = hole.strip_prefix(['=', '~']) {
                let scope = if hole.starts_with('=') {
                    &outer
                } else {
                    &inner
                };
                let ty = self.ty(ty, names)?;
                text += &self.value(scope, &ty, depth.saturating_sub(1));
            } else if let Some((name, ty)) = hole.split_once([':', ';']) {
                let ty = ty.trim_start();
                let star = if ty.starts_with('*') { "*" } else { "" };
                let (new, ty) = (self.name(name), self.ty(ty.trim_start_matches('*'), names)?);
                text += &new;
                if hole.contains(':') {
                    text += &format!(": {star}{ty}");
                }
                // A variable that is consumed is not read.
                if star.is_empty() {
                    inner.vars.push(Var::new(&new, &ty));
                }
                names.known.insert(name.to_owned(), (new, ty));
            } else if let Some(types) = hole.strip_prefix("do ").or(hole.strip_prefix("par ")) {
                let types = types.split(", ").map(|ty| self.ty(ty, names));
                let types = types.collect::<Option<Vec<_>>>()?;
                text += &self.block(&inner, &types, hole.starts_with("par"), indent + 2);
            } else if let Some(name) = hole.strip_prefix("op ") {
                text += &self.operator(elem(&names.known[name].1));
            } else if let Some((low, high)) = hole.split_once("..") {
                let (low, high): (i64, i64) = (low.parse().ok()?, high.parse().ok()?);
                text += &format!("({})", self.rng.i64(low..=high));
            } else if let Some(path) = hole.strip_suffix(".n") {
                text += &format!("({})", first_dim(&self.ty(path, names)?)?);
            } else {
                match names.known.get(hole) {
                    Some((known, _)) if !known.is_empty() => text += known,
                    _ => text += &self.ty(hole, names)?,
                }
            }
            text += rest;
            if rest.contains("case ") {
                inner = outer.clone();
            }
        }
        Some(text)
    }

    fn block(
        &mut self,
        scope: &Scope,
        types: &[String],
        is_parallel: bool,
        indent: usize,
    ) -> String {
        let mut scope = scope.clone();
        scope.vars.iter_mut().for_each(|var| var.is_fresh = false);
        scope.depth += 1;
        scope.is_parallel |= is_parallel;
        let most = [4, 3, 2].get(scope.depth - 1).copied().unwrap_or(1);
        let mut stmts = String::new();
        for _ in 0..self.rng.usize(..most) {
            stmts += &self
                .stmt(&mut scope, "statements", indent)
                .unwrap_or_default();
        }
        let values: Vec<_> = types.iter().map(|ty| self.value(&scope, ty, 2)).collect();
        let values = match &values[..] {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        match stmts.is_empty() {
            true => values,
            false => format!("({stmts}\n{}in {values})", " ".repeat(indent)),
        }
    }

    /// A total expression.
    fn value(&mut self, scope: &Scope, ty: &str, depth: usize) -> String {
        let vars: Vec<_> = scope.vars.iter().filter(|var| var.ty == ty).collect();
        if depth == 0 || rank(ty) > 0 || self.one_in(4) {
            if let Some(var) = self.rng.choice(vars) {
                return var.name.clone();
            }
        }
        let deeper = depth.saturating_sub(1);
        if let Some(dim) = first_dim(ty) {
            let i = self.name("i");
            let mut inner = scope.clone();
            inner.vars.push(Var::new(&i, "i64"));
            return format!(
                "(tabulate ({dim}) (\\{i} -> {}))",
                self.value(&inner, row(ty), deeper)
            );
        }
        let is_opaque = OPAQUE.contains(&ty);
        if depth == 0 && !is_opaque {
            let ints = scope
                .vars
                .iter()
                .filter(|var| INTS.contains(&var.ty.as_str()));
            let int = self.rng.choice(ints.collect::<Vec<_>>());
            let Some(Var { name, ty: from, .. }) = int.filter(|_| !self.one_in(4)) else {
                return format!("({})", self.number(ty));
            };
            return match &ty[..1] {
                "b" => format!("({name} & 1 == 0)"),
                "f" => format!("({ty}.i64 (i64.{from} {name} & 15))"),
                _ => format!("({ty}.{from} {name})"),
            };
        }
        let class = match &ty[..1] {
            _ if is_opaque || ty == "bool" => ty,
            "f" => "float",
            _ => "int",
        };
        loop {
            let class = if depth > 0 && self.one_in(4) {
                "any"
            } else {
                class
            };
            let rows = self.sections["expressions"].iter();
            let rows = rows.filter(|row| row.result == class || row.result == ty);
            let row = self
                .rng
                .choice(rows.copied().collect::<Vec<_>>())
                .expect("a row");
            let mut names = Names::default();
            names
                .known
                .insert("t".to_owned(), (String::new(), ty.to_owned()));
            let picked = self.pick(row, &mut names, scope);
            let text = picked.and_then(|()| self.expand(row.template, &mut names, scope, depth, 0));
            if let Some(text) = text {
                return text;
            }
        }
    }

    /// An associative operator and its neutral element.
    fn operator(&mut self, elem: &str) -> String {
        match (
            elem,
            self.rng.u8(if elem.starts_with('f') { 5 } else { 0 }..7),
        ) {
            ("bool", 0..4) => "(&&) true".to_owned(),
            ("bool", _) => "(||) false".to_owned(),
            (_, 0) => "(+) 0".to_owned(),
            (_, 1) => "(*) 1".to_owned(),
            (_, 2) => "(|) 0".to_owned(),
            (_, 3) => format!("(&) ({elem}.not 0)"),
            (_, 4) => "(^) 0".to_owned(),
            // All floats are between these, and conversions of infinities are not defined.
            ("f16" | "f32" | "f64", 5) => format!("{elem}.min 1000"),
            ("f16" | "f32" | "f64", _) => format!("{elem}.max (-1000)"),
            (_, 5) => format!("{elem}.min {elem}.highest"),
            _ => format!("{elem}.max {elem}.lowest"),
        }
    }

    /// A call of a function that stands before.
    fn call(&mut self, scope: &mut Scope, indent: usize) -> Option<String> {
        let function = self.rng.choice(0..self.functions.len())?;
        let Function {
            name,
            sizes,
            params,
            results,
        } = &self.functions[function];
        let (mut text, own) = (name.clone(), sizes.clone());
        let (params, results) = (params.clone(), results.clone());
        let sizes: Vec<_> = own
            .iter()
            .map(|size| (format!("[{size}]"), self.size(scope)))
            .collect();
        let outside = |ty: String| {
            let fill =
                |ty: String, (own, size): &(String, String)| ty.replace(own, &format!("[{size}]"));
            sizes.iter().fold(ty, fill)
        };
        for (ty, is_consumed) in params {
            let copy = if is_consumed { "copy " } else { "" };
            text += &format!(" ({copy}{})", self.value(scope, &outside(ty), 2));
        }
        let (mut new_sizes, mut types) = (Vec::new(), Vec::new());
        for ty in results {
            let mut ty = outside(ty);
            while ty.contains("[]") {
                new_sizes.push(self.name("m"));
                ty = ty.replacen("[]", &format!("[{}]", new_sizes.last()?), 1);
            }
            types.push((ty, false));
        }
        Some(self.bind(scope, &text, types, &new_sizes, indent))
    }
}

/// Whether a variable is of a kind.
fn fits(var: &Var, kind: &str, names: &Names) -> bool {
    let (ty, elem) = (var.ty.as_str(), elem(&var.ty));
    let (rank, is_int) = (rank(ty), INTS.contains(&elem));
    let words: Vec<_> = kind.split(' ').collect();
    match words[..] {
        ["array"] => rank > 0,
        ["param"] => rank > 0 && var.is_param,
        ["matrix"] => rank > 1,
        ["vector"] => rank == 1 && !OPAQUE.contains(&elem),
        ["ints"] => rank == 1 && is_int,
        // Kernels of 0.25.32 write histograms of bytes to wrong places.
        ["words"] => rank == 1 && is_int && elem.ends_with(['2', '4']),
        ["of", other] => {
            rank == 1 && elem == names.known.get(other).map_or(other, |(_, ty)| ty.as_str())
        }
        ["along", other] => first_dim(ty) == first_dim(&names.known[other].1),
        ["like", other] => rank > 0 && row(ty) == row(&names.known[other].1),
        _ => ty == kind,
    }
}
