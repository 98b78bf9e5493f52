//! Random programs that are well typed, end, and have one result for each input; `grammar.txt` says what they consist of.
//!
//! Expressions are total, except for statements that can fail. Floats are small integers and halves, so that no
//! operation rounds. Types are texts such as `[n_1][2]i32`.

use fastrand::Rng;
use std::collections::BTreeMap;

const INTS: [&str; 8] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
const OPAQUE: [&str; 2] = ["rec", "sum"];

/// The source of a seed's program, with inputs but without results.
pub fn generate(seed: u64) -> String {
    let (rng, mut sections, mut section) = (Rng::with_seed(seed), BTreeMap::new(), "");
    for line in include_str!("grammar.txt").lines() {
        let fields: Vec<_> = line.splitn(3, '|').map(str::trim).collect();
        match (line.strip_prefix("== "), &fields[..]) {
            (Some(name), _) => section = name,
            (None, &[result, picks, template]) if !line.starts_with('#') => {
                let rows: &mut Vec<Row> = sections.entry(section).or_default();
                rows.push([result, picks, template]);
            }
            _ => {}
        }
    }
    let mut generator = Generator {
        rng,
        sections,
        next: 0,
    };
    let entries = generator.rng.usize(3..8);
    let entries: String = (0..entries).map(|_| generator.entry()).collect();
    include_str!("prelude.fut").to_owned() + &entries
}

/// A result, what is picked, and a template.
type Row = [&'static str; 3];

/// A text and its type, for which a name in a row stands.
type Named = (String, String);

type Names = BTreeMap<String, Named>;

struct Generator {
    rng: Rng,
    sections: BTreeMap<&'static str, Vec<Row>>,
    next: usize,
}

#[derive(Clone)]
struct Var {
    name: String,
    ty: String,
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

/// The length and the type of the rows of an array.
fn array(ty: &str) -> Option<(&str, &str)> {
    ty.strip_prefix('[')?.split_once(']')
}

fn row(ty: &str) -> &str {
    array(ty).map_or(ty, |(_, row)| row)
}

fn elem(ty: &str) -> &str {
    ty.rsplit(']').next().unwrap_or(ty)
}

fn dims(ty: &str) -> impl Iterator<Item = &str> {
    ty.split(']').filter_map(|part| part.strip_prefix('['))
}

fn rank(ty: &str) -> usize {
    dims(ty).count()
}

impl Var {
    fn new(name: &str, ty: &str, is_fresh: bool) -> Var {
        let (name, ty) = (name.to_owned(), ty.to_owned());
        let is_fresh = is_fresh && rank(&ty) > 0;
        Var { name, ty, is_fresh }
    }

    fn is_param(&self) -> bool {
        self.name.starts_with('p')
    }

    /// Whether a row can pick it as `kind`.
    fn is<'a>(&self, kind: &[&'a str], names: &'a Names) -> bool {
        let (ty, elem, rank) = (self.ty.as_str(), elem(&self.ty), rank(&self.ty));
        let is_int = INTS.contains(&elem);
        let other = |name: &'a str| names.get(name).map_or(name, |(_, ty)| ty.as_str());
        match *kind {
            ["integer"] => rank == 0 && is_int,
            ["array"] => rank > 0,
            ["param"] => rank > 0 && self.is_param(),
            ["matrix"] => rank > 1,
            ["vector"] => rank == 1 && !OPAQUE.contains(&elem),
            ["ints"] => rank == 1 && is_int,
            // Kernels write histograms of bytes (0.25.32) and of u64 (0.25.27) to wrong places.
            ["words"] => rank == 1 && ["i32", "i64", "u32"].contains(&elem),
            ["of", name] => rank == 1 && elem == other(name),
            ["along", name] => array(ty).unzip().0 == array(other(name)).unzip().0,
            ["like", name] => rank > 0 && row(ty) == row(other(name)),
            _ => kind == [ty],
        }
    }
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

    fn prim(&mut self) -> &'static str {
        // Futhark 0.25 loses f16 results on multicore.
        let others = ["bool", "f32", "f64"];
        self.choose(&[&INTS[..], &others].concat())
    }

    fn elem(&mut self) -> &'static str {
        match self.one_in(4) {
            true => self.choose(&OPAQUE),
            false => self.prim(),
        }
    }

    fn size(&mut self, scope: &Scope) -> String {
        match self.one_in(6) {
            true => self.rng.u8(1..5).to_string(),
            false => self.choose(&scope.sizes),
        }
    }

    fn entry(&mut self) -> String {
        let (name, mut scope) = (self.name("main"), Scope::default());
        scope.sizes = (0..self.rng.usize(1..3)).map(|_| self.name("n")).collect();
        let sizes = scope.sizes.clone();
        let dims: Vec<_> = sizes.iter().map(|size| format!("[{size}]")).collect();
        let mut head = dims.join(" ");
        for i in 0..sizes.len() + self.rng.usize(1..4) {
            // Each size is that of an argument.
            let mut ty = dims.get(i).cloned().unwrap_or_default();
            let most = if i == sizes.len() { 0 } else { 2 };
            for _ in 0..self.rng.usize(..=most) {
                ty += &self.choose(&dims);
            }
            // And there is a number to decide by.
            ty += if i == sizes.len() { "i64" } else { self.prim() };
            let param = Var::new(&self.name("p"), &ty, self.one_in(3));
            let star = if param.is_fresh { "*" } else { "" };
            head += &format!(" ({}: {star}{ty})", param.name);
            scope.vars.push(param);
        }
        let params: Vec<_> = scope.vars.iter().map(|var| var.ty.clone()).collect();
        let (mut body, mut returned) = (String::new(), Vec::<Var>::new());
        for _ in 0..self.rng.usize(3..8) {
            let section = match self.one_in(6) {
                true => "failing",
                false => "statements",
            };
            let Some(stmt) = self.stmt(&mut scope, section) else {
                continue;
            };
            body += &stmt;
            if section == "failing" {
                returned.extend(scope.vars.pop());
            }
        }
        let others = scope.vars.iter().rev();
        let others = others.filter(|var| !var.is_param() && rank(&var.ty) < 4);
        returned.extend(others.take(self.rng.usize(1..4)).cloned());
        if returned.is_empty() {
            return String::new();
        }
        let results = returned.iter().map(result);
        let (types, values): (Vec<_>, Vec<_>) = results.unzip();
        let (types, values) = (types.join(", "), values.join(", "));
        let inputs: String = (0..6).map(|_| self.inputs(&sizes, &params)).collect();
        format!(
            "\n-- ==\n-- entry: {name}\n{inputs}entry {name} {head} : ({types}) ={body}\n  in ({values})\n"
        )
    }

    /// The arguments of a call.
    fn inputs(&mut self, sizes: &[String], params: &[String]) -> String {
        let is_large = params.iter().all(|ty| rank(ty) < 2) && self.one_in(20);
        let most = if is_large { 300 } else { 9 };
        let extents: BTreeMap<_, _> = sizes
            .iter()
            .map(|size| (size.as_str(), self.choose(&[0, 1, 1, 2, 3, 4, 5, most])))
            .collect();
        let values: Vec<_> = params.iter().map(|ty| self.input(ty, &extents)).collect();
        format!("-- input {{ {} }}\n", values.join(" "))
    }

    fn input(&mut self, ty: &str, extents: &BTreeMap<&str, usize>) -> String {
        let Some((dim, row)) = array(ty) else {
            return self.number(ty);
        };
        let dims = |ty: String, (size, extent): (&&str, &usize)| {
            ty.replace(&format!("[{size}]"), &format!("[{extent}]"))
        };
        let shape = extents.iter().fold(ty.to_owned(), dims);
        if shape.contains("[0]") {
            return format!("empty({shape})");
        }
        let rows: Vec<_> = (0..extents[dim])
            .map(|_| self.input(row, extents))
            .collect();
        format!("[{}]", rows.join(", "))
    }

    fn number(&mut self, elem: &str) -> String {
        let range = self.choose(&[-4..12, -4..12, -4..12, -128..128]);
        let small: i16 = self.rng.i16(range);
        match &elem[..1] {
            "b" => (small > 4).to_string(),
            "f" => format!("{}.{}{elem}", small.abs() % 12, self.choose(&[0, 5])),
            "u" => format!("{}{elem}", small.abs()),
            _ => format!("{small}{elem}"),
        }
    }

    /// A statement, whose variables are then in scope.
    fn stmt(&mut self, scope: &mut Scope, section: &str) -> Option<String> {
        let [results, picks, template] = *self.rng.choice(&self.sections[section])?;
        let mut names = Names::new();
        self.pick(picks, &mut names, scope)?;
        let text = self.expand(template, &mut names, scope, 3);
        // A result can refer to the memory of what the text names.
        for var in &mut scope.vars {
            var.is_fresh &= !text.contains(&var.name);
        }
        let (mut sizes, mut vars) = (String::new(), Vec::new());
        for result in results.split(", ") {
            let ty = self.ty(result.trim_start_matches('*'), &names);
            for dim in dims(&ty).filter(|dim| dim.starts_with('m')) {
                if scope.sizes.iter().all(|size| size != dim) {
                    sizes += &format!("[{dim}] ");
                    scope.sizes.push(dim.to_owned());
                }
            }
            let var = Var::new(&self.name("v"), &ty, result.starts_with('*'));
            vars.push(format!("{}: {ty}", var.name));
            scope.vars.push(var);
        }
        let (indent, vars) = (2 * scope.depth + 2, vars.join(", "));
        Some(format!("\n{:indent$}let {sizes}({vars}) = {text}", ""))
    }

    /// Chooses what the names of a row stand for; `None` if nothing fits. What is consumed leaves the scope.
    fn pick(&mut self, picks: &str, names: &mut Names, scope: &mut Scope) -> Option<()> {
        for pick in picks
            .split(',')
            .map(str::trim)
            .filter(|pick| !pick.is_empty())
        {
            let words: Vec<_> = pick.split(' ').collect();
            let ty = |ty: &str| (String::new(), ty.to_owned());
            let chosen = match words[..] {
                ["flat"] if !scope.is_parallel => continue,
                ["flat"] => return None,
                [_, "size"] => (self.size(scope), "i64".to_owned()),
                [_, "int"] => ty(self.choose(&INTS)),
                [_, "prim"] => ty(self.prim()),
                [_, "type"] if self.one_in(4) => {
                    ty(&format!("[{}]{}", self.size(scope), self.elem()))
                }
                [_, "type"] => ty(self.elem()),
                _ => self.pick_var(&words[1..], names, scope)?,
            };
            names.insert(words[0].to_owned(), chosen);
        }
        Some(())
    }

    /// A variable; if it is consumed, it can be a copy of one.
    fn pick_var(&mut self, kind: &[&str], names: &Names, scope: &mut Scope) -> Option<Named> {
        let (is_consumed, kind) = match kind {
            ["own", kind @ ..] => (true, kind),
            _ => (false, kind),
        };
        let vars = scope.vars.iter().filter(|var| var.is(kind, names));
        let fitting: Vec<_> = vars.cloned().collect();
        let is_named = |var: &Var| names.values().any(|(text, _)| *text == var.name);
        let own = fitting.iter().filter(|var| var.is_fresh && !is_named(var));
        let own = self.rng.choice(own.collect::<Vec<_>>());
        if let Some(Var { name, ty, .. }) = own.filter(|_| is_consumed) {
            scope.vars.retain(|var| var.name != *name);
            return Some((name.clone(), ty.clone()));
        }
        let Var { name, ty, .. } = self.rng.choice(fitting)?;
        let copy = format!("(copy {name})");
        Some((if is_consumed { copy } else { name }, ty))
    }

    /// The type that a text of the grammar means.
    fn ty(&mut self, text: &str, names: &Names) -> String {
        if let Some((dim, row)) = array(text) {
            return format!("[{}]{}", self.length(dim, names), self.ty(row, names));
        }
        match text.rsplit_once('.') {
            Some((path, "r")) => row(&self.ty(path, names)).to_owned(),
            Some((path, _)) => elem(&self.ty(path, names)).to_owned(),
            None => names.get(text).map_or(text, |(_, ty)| ty).to_owned(),
        }
    }

    /// The size that a text of the grammar means.
    fn length(&mut self, text: &str, names: &Names) -> String {
        match (text.strip_suffix(".n"), names.get(text)) {
            (Some(path), _) => array(&self.ty(path, names)).expect("an array").0.to_owned(),
            (_, Some((size, _))) => size.clone(),
            _ if text == "m" => self.name("m"),
            _ => text.to_owned(),
        }
    }

    /// Fills the holes of a template.
    fn expand(&mut self, template: &str, names: &mut Names, outer: &Scope, depth: usize) -> String {
        let mut inner = outer.clone();
        let mut pieces = template.split("${");
        let mut text = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (hole, rest) = piece.split_once('}').expect("the end of a hole");
            if let Some(ty) = hole.strip_prefix(['=', '~']) {
                let scope = if hole.starts_with('=') { outer } else { &inner };
                let ty = self.ty(ty, names);
                text += &self.value(scope, &ty, depth.saturating_sub(1));
            } else if let Some((name, ty)) = hole.split_once([':', ';']) {
                let (star, ty) = if ty == " *a" {
                    ("*", "a")
                } else {
                    ("", ty.trim_start())
                };
                let (new, ty) = (self.name(name), self.ty(ty, names));
                text += &new;
                if hole.contains(':') {
                    text += &format!(": {star}{ty}");
                }
                // A variable that is consumed is not read.
                if star.is_empty() {
                    inner.vars.push(Var::new(&new, &ty, false));
                }
                names.insert(name.to_owned(), (new, ty));
            } else if let Some(types) = hole.strip_prefix("do ").or(hole.strip_prefix("par ")) {
                let types: Vec<_> = types.split(", ").map(|ty| self.ty(ty, names)).collect();
                text += &self.block(&inner, &types, hole.starts_with("par"));
            } else if let Some(name) = hole.strip_prefix("op ") {
                text += &self.filled("operators", elem(&names[name].1), outer, 0);
            } else if hole.ends_with(".n") {
                text += &format!("({})", self.length(hole, names));
            } else if hole == "number" {
                text += &self.number(&names["t"].1);
            } else if let Some(texts) = hole.strip_prefix("any ") {
                text += self.choose(&texts.split(' ').collect::<Vec<_>>());
            } else {
                match names.get(hole) {
                    Some((known, _)) if !known.is_empty() => text += known,
                    _ => text += &self.ty(hole, names),
                }
            }
            text += rest;
            if rest.contains("case ") {
                inner = outer.clone();
            }
        }
        text
    }

    fn block(&mut self, scope: &Scope, types: &[String], is_parallel: bool) -> String {
        let mut scope = scope.clone();
        scope.vars.iter_mut().for_each(|var| var.is_fresh = false);
        scope.depth += 1;
        scope.is_parallel |= is_parallel;
        let most = 5_usize.saturating_sub(scope.depth).max(1);
        let mut stmts = String::new();
        for _ in 0..self.rng.usize(..most) {
            stmts += &self.stmt(&mut scope, "statements").unwrap_or_default();
        }
        let values: Vec<_> = types.iter().map(|ty| self.value(&scope, ty, 2)).collect();
        let values = values.join(", ");
        let indent = 2 * scope.depth + 2;
        match stmts.is_empty() {
            true => format!("({values})"),
            false => format!("({stmts}\n{:indent$}in ({values}))", ""),
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
        if let Some((dim, row)) = array(ty) {
            let i = self.name("i");
            let mut inner = scope.clone();
            inner.vars.push(Var::new(&i, "i64", false));
            let value = self.value(&inner, row, depth.saturating_sub(1));
            return format!("(tabulate ({dim}) (\\{i} -> {value}))");
        }
        let section = match depth > 0 && !self.one_in(4) {
            true => "expressions",
            false => "leaves",
        };
        self.filled(section, ty, scope, depth)
    }

    /// A row of the section that has the type.
    fn filled(&mut self, section: &str, ty: &str, scope: &Scope, depth: usize) -> String {
        let class = match &ty[..1] {
            _ if ty == "bool" || OPAQUE.contains(&ty) => ty,
            "f" => "float",
            _ => "int",
        };
        let rows = self.sections[section].iter().copied();
        let rows: Vec<_> = rows
            .filter(|[result, ..]| ["any", class, ty].contains(result))
            .collect();
        loop {
            let [_, picks, template] = self.choose(&rows);
            let t = (String::new(), ty.to_owned());
            let mut names = Names::from([("t".to_owned(), t)]);
            if self.pick(picks, &mut names, &mut scope.clone()).is_some() {
                return self.expand(template, &mut names, scope, depth);
            }
        }
    }
}

/// The type and the value of a result: numbers for opaque values, and sizes of arguments as the only names.
fn result(var: &Var) -> (String, String) {
    let (elem, mut ty) = (elem(&var.ty), String::new());
    for dim in dims(&var.ty) {
        ty += &format!("[{}]", if dim.starts_with('m') { "" } else { dim });
    }
    if !OPAQUE.contains(&elem) {
        return (ty + elem, var.name.clone());
    }
    let digest = (0..rank(&ty)).fold(format!("digest_{elem}"), |map, _| format!("(map {map})"));
    (ty + "i64", format!("{digest} {}", var.name))
}
