//! The jobs of a run, and the part of them that covers everything.

use super::choose::{self, Item};
use super::construct::{Construct, Features, Scope, Topic};
use super::demand::topics;
use crate::checks::Check;
use crate::report::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A column of the matrix: where a program can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The backend's name.
    pub backend: String,
    /// The device's name.
    pub device: String,
    /// The compiler's version.
    pub compiler: String,
}

/// The part of a run that covers everything that the whole run covers.
#[derive(Clone, Debug)]
pub struct Plan {
    programs: Vec<String>,
    columns: Vec<Column>,
    /// The chosen jobs, as program and column, with their checks.
    chosen: BTreeMap<(usize, usize), BTreeSet<&'static str>>,
    /// The chosen jobs in the order of choice: the most new combinations per cost first.
    order: Vec<(usize, usize)>,
    /// The number of constructs, and of checks that ask about any of them.
    covered: (usize, usize),
}

/// The cost of a job, in any unit: of the job itself, and of what all jobs of its program and
/// compiler share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The cost of the job; at least 1.
    pub own: u64,
    /// The cost that only the first of the jobs has in addition.
    pub shared: u64,
}

impl Plan {
    /// Chooses jobs among all pairs of a program and a column. `programs` has the name and the
    /// features of each program. `is_known_failure(program, column, check)` returns whether the
    /// check is expected to fail in that job; then the job covers nothing for the check.
    #[must_use]
    pub fn new(
        programs: &[(String, Features)],
        columns: &[Column],
        checks: &[&Check],
        is_known_failure: impl Fn(usize, usize, &str) -> bool,
        cost: impl Fn(usize, usize) -> Cost,
    ) -> Plan {
        // A program that the compiler rejects has a failure of its own, or an expected error.
        let rejected = programs.iter().map(|(name, features)| {
            (!features.compiles).then(|| Construct {
                topic: Topic::Program,
                name: format!("{name} does not compile"),
                scope: Scope::Run,
            })
        });
        let rejected: Vec<Option<Construct>> = rejected.collect();
        let mut numbers: BTreeMap<Combination<'_>, u32> = BTreeMap::new();
        let compilers: BTreeSet<&str> = columns.iter().map(|c| c.compiler.as_str()).collect();
        let mut jobs = Vec::new();
        let mut items = Vec::new();
        for (program, (_, features)) in programs.iter().enumerate() {
            for (column, place) in columns.iter().enumerate() {
                let compiler = compilers.range(..place.compiler.as_str()).count();
                let mut covers = Vec::new();
                let fails = |check: &str| is_known_failure(program, column, check);
                let compiles = features.compiles && !fails("compile");
                let covering = |check: &&&Check| {
                    runs(check, features, place)
                        && (compiles || check.name == "compile")
                        && !fails(check.name)
                };
                for check in checks.iter().filter(covering) {
                    let asked = topics(check.name);
                    for construct in features.constructs.iter().chain(&rejected[program]) {
                        if asked.contains(&construct.topic) {
                            let next = numbers.len() as u32;
                            let combination = Combination::new(check.name, construct, place);
                            covers.push(*numbers.entry(combination).or_insert(next));
                        }
                    }
                }
                jobs.push((program, column));
                let Cost { own, shared } = cost(program, column);
                items.push(Item {
                    covers,
                    cost: own.max(1),
                    // All columns are compared with backend c, so they share a build.
                    group: program * compilers.len() + compiler,
                    shared,
                });
            }
        }
        let mut check_of = vec![""; numbers.len()];
        for (combination, &number) in &numbers {
            check_of[number as usize] = combination.check;
        }
        let mut chosen = BTreeMap::new();
        let mut order = Vec::new();
        for item in choose::choose(&items, check_of.len()) {
            let (program, column) = jobs[item];
            let (features, place) = (&programs[program].1, &columns[column]);
            // They cover nothing, but must still fail.
            let known_failures = checks.iter().filter(|check| {
                runs(check, features, place) && is_known_failure(program, column, check.name)
            });
            chosen.insert(item, known_failures.map(|check| check.name).collect());
            order.push((program, column));
        }
        for check in checks {
            choose_for(check.name, &check_of, &items, &mut chosen);
        }
        let constructs = programs
            .iter()
            .flat_map(|(_, features)| features.constructs.iter());
        let constructs: BTreeSet<&Construct> = constructs.collect();
        let checks: BTreeSet<&str> = check_of.into_iter().collect();
        Plan {
            programs: programs.iter().map(|(name, _)| name.clone()).collect(),
            columns: columns.to_vec(),
            chosen: chosen
                .into_iter()
                .map(|(item, checks)| (jobs[item], checks))
                .collect(),
            order,
            covered: (constructs.len(), checks.len()),
        }
    }

    /// The chosen jobs, as program and column, in the order of choice.
    #[must_use]
    pub fn order(&self) -> &[(usize, usize)] {
        &self.order
    }

    /// Whether the part has the job of this program and column, given by their indices.
    #[must_use]
    pub fn takes(&self, program: usize, column: usize) -> bool {
        self.chosen.contains_key(&(program, column))
    }

    /// The checks that this job must run, by name; none if the part does not have the job.
    pub fn checks(&self, program: usize, column: usize) -> impl Iterator<Item = &'static str> {
        let checks = self.chosen.get(&(program, column));
        checks.into_iter().flatten().copied()
    }

    /// Whether the part has this program in any column.
    #[must_use]
    pub fn takes_program(&self, program: usize) -> bool {
        (0..self.columns.len()).any(|column| self.takes(program, column))
    }
}

/// Adds the check to those of the chosen items that together cover all of its combinations.
fn choose_for(
    check: &'static str,
    check_of: &[&str],
    items: &[Item],
    chosen: &mut BTreeMap<usize, BTreeSet<&'static str>>,
) {
    let of_check = |item: &usize| Item {
        covers: (items[*item].covers.iter().copied())
            .filter(|&combination| check_of[combination as usize] == check)
            .collect(),
        shared: 0,
        ..items[*item]
    };
    let candidates: Vec<Item> = chosen.keys().map(of_check).collect();
    let taken: BTreeSet<usize> = choose::choose(&candidates, check_of.len())
        .into_iter()
        .collect();
    for (number, checks) in chosen.values_mut().enumerate() {
        if taken.contains(&number) {
            checks.insert(check);
        }
    }
}

/// Counts what is covered, for people, in lines of less than 80 characters.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |part: fn(&Column) -> &str| {
            let parts: BTreeSet<&str> = self.columns.iter().map(part).collect();
            parts.len()
        };
        let (constructs, checks) = self.covered;
        let all = self.programs.len() * self.columns.len();
        writeln!(
            f,
            "quick run: {} of {} cover every kind of construct:",
            self.chosen.len(),
            counted(all, "job")
        )?;
        writeln!(
            f,
            "  {}, {}, {}, {}",
            counted(constructs, "construct"),
            counted(checks, "check"),
            counted(of(|column| &column.backend), "backend"),
            counted(of(|column| &column.compiler), "compiler")
        )?;
        let programs = (0..self.programs.len()).filter(|&program| !self.takes_program(program));
        write!(
            f,
            "  left out (--all runs all): {}, {}",
            counted(programs.count(), "program"),
            counted(all - self.chosen.len(), "job")
        )
    }
}

/// Something to cover: a check, a construct, and a place in the construct's scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Combination<'a> {
    check: &'static str,
    construct: &'a Construct,
    place: [&'a str; 2],
}

impl<'a> Combination<'a> {
    fn new(check: &'static str, construct: &'a Construct, column: &'a Column) -> Combination<'a> {
        let backend = column.backend.as_str();
        let place = match construct.scope {
            Scope::Device => [backend, &column.device],
            Scope::Compiler => [backend, &column.compiler],
            Scope::Family => [family(backend), ""],
            Scope::Run => ["", ""],
        };
        Combination {
            check,
            construct,
            place,
        }
    }
}

/// Backends for which the compiler generates the same parallel code.
fn family(backend: &str) -> &str {
    match backend {
        "opencl" | "cuda" | "hip" => "gpu",
        other => other,
    }
}

/// Whether the job runs the check at all.
fn runs(check: &Check, features: &Features, place: &Column) -> bool {
    if check.name == "plain" && place.backend != "c" {
        return false;
    }
    let excluded = format!("no_{}", place.backend);
    check.run.is_none() || !features.tags.contains(&excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks;
    use crate::cover::Topic;
    use crate::cover::construct::Compiled;
    use futhark_manifest::Manifest;
    use std::path::Path;

    fn column(backend: &str, compiler: &str) -> Column {
        Column {
            backend: backend.to_owned(),
            device: "cpu".to_owned(),
            compiler: compiler.to_owned(),
        }
    }

    fn features(list: &[(Topic, &str, Scope)]) -> Features {
        let constructs = list.iter().map(|&(topic, name, scope)| Construct {
            topic,
            name: name.to_owned(),
            scope,
        });
        Features {
            constructs: constructs.collect(),
            compiles: true,
            tags: Vec::new(),
            cost: 10,
        }
    }

    fn by_features(programs: &[(String, Features)]) -> impl Fn(usize, usize) -> Cost {
        |program, _| Cost {
            own: programs[program].1.cost,
            shared: 0,
        }
    }

    fn plan(programs: &[(&str, Features)], columns: &[Column]) -> Plan {
        let programs: Vec<_> = programs
            .iter()
            .map(|(name, features)| ((*name).to_owned(), features.clone()))
            .collect();
        let checks: Vec<&Check> = checks::ALL.iter().collect();
        let none = |_, _, _: &str| false;
        Plan::new(&programs, columns, &checks, none, by_features(&programs))
    }

    #[test]
    fn constructs_are_covered_in_each_place_of_their_scope() {
        let mut second_device = column("opencl", "1");
        second_device.device = "other".to_owned();
        let columns = [
            column("c", "1"),
            column("c", "2"),
            column("opencl", "1"),
            column("cuda", "1"),
            second_device,
        ];
        let scopes = [
            (Scope::Device, vec![0, 2, 3, 4]),
            (Scope::Compiler, vec![0, 1, 2, 3]),
            (Scope::Family, vec![0, 2]),
            (Scope::Run, vec![0]),
        ];
        for (scope, expected) in scopes {
            let program = features(&[(Topic::Array, "array", scope)]);
            let plan = plan(&[("a.fut", program)], &columns);
            let taken: Vec<_> = (0..5).filter(|&column| plan.takes(0, column)).collect();
            assert_eq!(taken, expected, "{scope:?}");
        }
    }

    #[test]
    fn a_program_without_a_new_construct_is_left_out_and_counted() {
        let array = (Topic::Array, "array", Scope::Compiler);
        let sum = (Topic::Opaque, "sum", Scope::Compiler);
        let programs = [
            ("array.fut", features(&[array])),
            ("both.fut", features(&[array, sum])),
        ];
        let plan = plan(&programs, &[column("c", "1")]);
        assert!(!plan.takes_program(0) && plan.takes_program(1));
        assert_eq!(
            plan.to_string(),
            "quick run: 1 of 2 jobs cover every kind of construct:\n  \
             2 constructs, 13 checks, 1 backend, 1 compiler\n  \
             left out (--all runs all): 1 program, 1 job"
        );
    }

    #[test]
    fn a_column_that_a_tag_excludes_is_covered_by_another_program() {
        let array = (Topic::Array, "array", Scope::Compiler);
        let mut tagged = features(&[array]);
        tagged.tags.push("no_opencl".to_owned());
        tagged.cost = 1;
        let programs = [("tagged.fut", tagged), ("free.fut", features(&[array]))];
        let plan = plan(&programs, &[column("c", "1"), column("opencl", "1")]);
        assert!(plan.takes(0, 0) && plan.takes(1, 1));
        assert!(!plan.takes(1, 0));
    }

    #[test]
    fn only_the_checks_that_run_are_covered() {
        let program = features(&[(Topic::Array, "array", Scope::Compiler)]);
        let programs = [("a.fut".to_owned(), program)];
        let server: Vec<_> = Check::named("server").into_iter().collect();
        let consume: Vec<_> = Check::named("consume").into_iter().collect();
        let columns = [column("c", "1")];
        let none = |_, _, _: &str| false;
        let takes = |checks: &[&Check]| {
            let plan = Plan::new(&programs, &columns, checks, none, by_features(&programs));
            plan.takes(0, 0)
        };
        assert!(takes(&server) && !takes(&consume));
    }

    #[test]
    fn constructs_come_from_manifest_test_blocks_and_source() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../futhark-manifest/tests/fixtures");
        let manifest = std::fs::read_to_string(folder.join("0.25.31.json")).unwrap();
        let manifest = Manifest::parse(&manifest).unwrap().resolve().unwrap();
        let source = "-- ==\n-- entry: f\n-- input { 1 } error: wrong\nentry f = map2 (+--) #[unroll] loop -- scan\n\
             #[attr(\"a filter --\")] def map' x = '\"' ++ take' #drop\n";
        let features = Features::of(source, Some(&Compiled::of(&manifest)));
        let names: Vec<&str> = features
            .constructs
            .iter()
            .map(|c| c.name.as_str())
            .collect();
        for name in [
            "sum",
            "record",
            "array of records",
            "input: values",
            "expected error",
            "map",
            "loop",
            "#[unroll",
            "#[attr",
            "++",
        ] {
            assert!(names.contains(&name), "{name} is missing in {names:?}");
        }
        for name in ["scan", "filter", "take", "drop"] {
            assert!(!names.contains(&name), "{name}");
        }
    }

    /// Both jobs are needed, for a construct each; a check of both runs in one of them.
    #[test]
    fn jobs_run_only_the_checks_that_they_are_needed_for() {
        let program = (Topic::Program, "a program", Scope::Run);
        let array = (Topic::Array, "array", Scope::Run);
        let opaque = (Topic::Opaque, "record", Scope::Run);
        let programs = [
            ("a.fut".to_owned(), features(&[program, array])),
            ("b.fut".to_owned(), features(&[program, opaque])),
        ];
        let checks: Vec<&Check> = ["lifecycle", "arrays", "opaque", "settings"]
            .iter()
            .filter_map(|name| Check::named(name))
            .collect();
        // A known failure runs in each job.
        let known = |_, _, check: &str| check == "settings";
        let cost = by_features(&programs);
        let plan = Plan::new(&programs, &[column("c", "1")], &checks, known, cost);
        let of = |program| plan.checks(program, 0).collect::<Vec<_>>();
        assert_eq!(of(0), ["arrays", "lifecycle", "settings"]);
        assert_eq!(of(1), ["opaque", "settings"]);
    }

    #[test]
    fn every_program_that_does_not_compile_is_in_the_part() {
        let rejected = Features {
            compiles: false,
            ..features(&[])
        };
        let names = ["a.fut", "b.fut"];
        let programs = names.map(|name| (name.to_owned(), rejected.clone()));
        let checks: Vec<&Check> = Check::named("compile").into_iter().collect();
        let columns = [column("c", "1"), column("opencl", "1")];
        let cost = by_features(&programs);
        let plan = Plan::new(&programs, &columns, &checks, |_, _, _| false, cost);
        assert_eq!(plan.order().len(), 2);
        assert!(plan.takes_program(0) && plan.takes_program(1));
    }

    #[test]
    fn an_expected_compile_error_is_covered() {
        let source = "-- ==\n-- error: unknown\n";
        let programs = [("a.fut".to_owned(), Features::of(source, None))];
        let checks: Vec<&Check> = checks::ALL.iter().collect();
        let none = |_, _, _: &str| false;
        let cost = by_features(&programs);
        let plan = Plan::new(&programs, &[column("c", "1")], &checks, none, cost);
        assert!(plan.takes(0, 0));
    }

    #[test]
    fn a_known_failure_does_not_cover_its_check() {
        let array = (Topic::Array, "array", Scope::Compiler);
        let programs = ["a.fut", "b.fut"].map(|name| (name.to_owned(), features(&[array])));
        let checks: Vec<&Check> = checks::ALL.iter().collect();
        for failing in ["compile", "arrays"] {
            let known = |program, _, check: &str| program == 0 && check == failing;
            let cost = by_features(&programs);
            let plan = Plan::new(&programs, &[column("c", "1")], &checks, known, cost);
            assert!(!plan.takes(0, 0) && plan.takes(1, 0), "{failing}");
        }
    }
}
