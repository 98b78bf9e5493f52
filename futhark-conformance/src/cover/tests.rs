//! Tests of the choice, and the one that writes the list of constructs of `programs/`.

mod extract;

use super::*;
use crate::checks;
use crate::corpus::Corpus;
use crate::devices::Device;
use crate::jobs;
use crate::parallel;
use extract::Features;
use futhark_manifest::{Backend, Manifest};
use futhark_safe::compile::Compiler;
use futhark_safe::compile::process;
use std::process::Command;

fn job(program: &Path, backend: Backend, device: &str, compiler: &str) -> Job {
    let device = Device {
        name: device.to_owned(),
        ..Device::host(backend)
    };
    let name = program.file_name().unwrap().to_str().unwrap().to_owned();
    let mut job = jobs::tests::job(program.to_str().unwrap(), compiler);
    job.id = JobId::new(&device, name, compiler.to_owned());
    job.device = device;
    job
}

/// A corpus whose programs have these constructs, and each the same cost.
struct Scene {
    folder: tempfile::TempDir,
    constructs: Vec<Construct>,
    lines: Vec<ListedProgram>,
    expectations: Expectations,
}

impl Scene {
    fn new() -> Scene {
        Scene {
            folder: tempfile::tempdir().unwrap(),
            constructs: Vec::new(),
            lines: Vec::new(),
            expectations: Expectations::default(),
        }
    }

    /// Adds a program; the caller can change its line.
    fn add(&mut self, program: &str, constructs: &[(Topic, &str, Scope)]) -> &mut ListedProgram {
        let path = self.folder.path().join(program);
        fs::write(&path, "-- source").unwrap();
        let mut numbers = Vec::new();
        for &(topic, name, scope) in constructs {
            let construct = Construct {
                topic,
                name: name.to_owned(),
                scope,
            };
            numbers.push(position(&mut self.constructs, construct));
        }
        self.lines.push(ListedProgram {
            program: program.to_owned(),
            source: key(&[b"-- source"]),
            compiles: true,
            tags: Vec::new(),
            constructs: numbers,
        });
        self.lines.last_mut().unwrap()
    }

    fn expect_failure(&mut self, program: &str, check: &str) {
        let file = self.folder.path().join("expectations.toml");
        let text = format!(
            "[[expect]]\nprogram = \"{program}\"\ncheck = \"{check}\"\nreason = \"known\"\n"
        );
        fs::write(&file, text).unwrap();
        self.expectations.add(&file).unwrap();
    }

    /// The choice among the jobs of each program in these columns of backend, device and compiler, by the
    /// checks with these names: the number of each chosen job, and its checks.
    fn choose(
        &self,
        columns: &[(Backend, &str, &str)],
        checks: &[&str],
    ) -> BTreeMap<usize, Vec<String>> {
        let list = self.folder.path().join(LIST);
        fs::write(&list, written(&self.constructs, &self.lines)).unwrap();
        let constructs = Constructs::read_for(&[self.folder.path().to_owned()]).unwrap();
        let programs = self
            .lines
            .iter()
            .map(|line| self.folder.path().join(&line.program));
        let jobs: Vec<Job> = programs
            .flat_map(|program| {
                columns.iter().map(move |(backend, device, compiler)| {
                    job(&program, *backend, device, compiler)
                })
            })
            .collect();
        let checks: Vec<&Check> = (checks::ALL.iter())
            .filter(|check| checks.is_empty() || checks.contains(&check.name))
            .collect();
        let part = choose(&jobs, &checks, &constructs, &self.expectations, |job| {
            fs::metadata(&job.program).unwrap().len()
        });
        let names = |checks: Vec<CheckPattern>| checks.iter().map(ToString::to_string).collect();
        part.jobs
            .into_iter()
            .map(|(job, checks)| (job, names(checks)))
            .collect()
    }

    /// The numbers of the jobs that are chosen on backend c.
    fn chosen(&self) -> Vec<usize> {
        self.choose(&[(Backend::C, "cpu", "1")], &[])
            .into_keys()
            .collect()
    }
}

fn position(constructs: &mut Vec<Construct>, construct: Construct) -> usize {
    let known = constructs.iter().position(|one| *one == construct);
    known.unwrap_or_else(|| {
        constructs.push(construct);
        constructs.len() - 1
    })
}

const ARRAY: (Topic, &str, Scope) = (Topic::Array, "array", Scope::Compiler);
const SUM: (Topic, &str, Scope) = (Topic::Opaque, "sum", Scope::Compiler);

#[test]
fn constructs_are_covered_in_each_place_of_their_scope() {
    let columns = [
        (Backend::C, "cpu", "1"),
        (Backend::C, "cpu", "2"),
        (Backend::OpenCl, "gpu", "1"),
        (Backend::Cuda, "gpu", "1"),
        (Backend::OpenCl, "other", "1"),
    ];
    for (scope, expected) in [
        (Scope::Device, vec![0, 2, 3, 4]),
        (Scope::Compiler, vec![0, 1, 2, 3]),
        (Scope::Family, vec![0, 2]),
        (Scope::Run, vec![0]),
    ] {
        let mut scene = Scene::new();
        scene.add("a.fut", &[(Topic::Array, "array", scope)]);
        let chosen: Vec<usize> = scene.choose(&columns, &[]).into_keys().collect();
        assert_eq!(chosen, expected, "{scope:?}");
    }
}

#[test]
fn a_program_without_a_new_construct_is_left_out() {
    let mut scene = Scene::new();
    scene.add("array.fut", &[ARRAY]);
    scene.add("both.fut", &[ARRAY, SUM]);
    assert_eq!(scene.chosen(), [1]);
}

#[test]
fn a_cheap_program_is_preferred() {
    let mut scene = Scene::new();
    for (name, source) in [("long.fut", "-- a long source"), ("short.fut", "--")] {
        scene.add(name, &[ARRAY]).source = key(&[source.as_bytes()]);
        fs::write(scene.folder.path().join(name), source).unwrap();
    }
    assert_eq!(scene.chosen(), [1]);
}

#[test]
fn a_backend_that_a_tag_excludes_is_covered_by_another_program() {
    let mut scene = Scene::new();
    scene
        .add("tagged.fut", &[ARRAY, SUM])
        .tags
        .push("no_opencl".to_owned());
    scene.add("free.fut", &[ARRAY, SUM]);
    let columns = [(Backend::C, "cpu", "1"), (Backend::OpenCl, "gpu", "1")];
    let chosen = scene.choose(&columns, &["arrays"]);
    assert_eq!(chosen.into_keys().collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn only_the_checks_that_run_are_covered() {
    let mut scene = Scene::new();
    scene.add("a.fut", &[ARRAY]);
    let columns = [(Backend::C, "cpu", "1")];
    assert_eq!(scene.choose(&columns, &["server"])[&0], ["server"]);
    assert!(scene.choose(&columns, &["consume"]).is_empty());
}

/// Both jobs are needed, for a construct each; a check of both runs in one of them.
#[test]
fn jobs_run_only_the_checks_that_they_are_needed_for() {
    let program = (Topic::Program, "a program", Scope::Run);
    let mut scene = Scene::new();
    scene.add("a.fut", &[program, ARRAY]);
    scene.add("b.fut", &[program, SUM]);
    // A known failure runs in each job.
    scene.expect_failure("*.fut", "settings");
    let checks = ["lifecycle", "arrays", "opaque", "settings"];
    let chosen = scene.choose(&[(Backend::C, "cpu", "1")], &checks);
    assert_eq!(chosen[&0], ["arrays", "lifecycle", "settings"]);
    assert_eq!(chosen[&1], ["opaque", "settings"]);
}

#[test]
fn a_program_that_does_not_compile_is_covered_by_the_check_compile() {
    let mut scene = Scene::new();
    scene
        .add(
            "a.fut",
            &[(Topic::Program, "a.fut does not compile", Scope::Run)],
        )
        .compiles = false;
    let chosen = scene.choose(&[(Backend::C, "cpu", "1")], &[]);
    assert_eq!(chosen[&0], ["compile"]);
}

#[test]
fn a_known_failure_does_not_cover_its_check() {
    for failing in ["compile", "arrays"] {
        let mut scene = Scene::new();
        scene.add("a.fut", &[ARRAY]);
        scene.add("b.fut", &[ARRAY]);
        scene.expect_failure("a.fut", failing);
        let chosen = scene.choose(&[(Backend::C, "cpu", "1")], &["compile", "arrays"]);
        assert_eq!(chosen.into_keys().collect::<Vec<_>>(), [1], "{failing}");
    }
}

#[test]
fn a_program_that_has_changed_is_not_listed_and_a_damaged_list_is_an_error() {
    let mut scene = Scene::new();
    scene.add("a.fut", &[ARRAY]);
    scene.add("b.fut", &[ARRAY]);
    scene.chosen();
    let folder = scene.folder.path();
    fs::write(folder.join("b.fut"), "-- changed").unwrap();
    fs::create_dir(folder.join("below")).unwrap();
    let constructs = Constructs::read_for(&[folder.join("below")]).unwrap();
    assert!(constructs.has(&folder.join("a.fut")) && !constructs.has(&folder.join("b.fut")));
    let without_constructs = written(&[], &scene.lines);
    for text in ["", "{\n", "<<<<<<< ours", &without_constructs] {
        fs::write(folder.join(LIST), text).unwrap();
        let error = Constructs::read_for(&[folder.to_owned()]).unwrap_err();
        assert!(format!("{error:#}").contains(LIST), "{text}: {error:#}");
    }
}

#[test]
fn some_check_asks_about_each_topic() {
    let asked = checks::ALL.iter().flat_map(|check| check.topics);
    let asked: BTreeSet<Topic> = asked.copied().collect();
    let topics =
        "{Program, Name, Entry, Array, Opaque, Consumption, Tuning, Case, Failure, Operator}";
    assert_eq!(format!("{asked:?}"), topics);
}

fn written(constructs: &[Construct], lines: &[ListedProgram]) -> String {
    let mut text = serde_json::to_string(constructs).unwrap() + "\n";
    for line in lines {
        text += &(serde_json::to_string(line).unwrap() + "\n");
    }
    text
}

#[test]
fn lists_of_constructs_are_up_to_date() {
    compare_or_write("../programs");
    compare_or_write("tests/faults/programs");
}

/// Writes the list with `FUTHARK_BLESS`. By default, only checks that it has every program with its present
/// text, because compiling all of them takes a minute; with `FUTHARK_TESTS_FULL` compares every line.
fn compare_or_write(folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let folder = folder.canonicalize().unwrap();
    let corpus = Corpus::find([&folder]).unwrap();
    let sources: Vec<&Path> = corpus.programs().map(|program| &*program.path).collect();
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let is_written = is_set("FUTHARK_BLESS");
    if !is_written {
        let listed = Constructs::read_for(std::slice::from_ref(&folder)).unwrap();
        let missing: Vec<&&Path> = sources.iter().filter(|path| !listed.has(path)).collect();
        let help = "FUTHARK_BLESS=1 cargo test -p futhark-conformance --lib lists_of_constructs";
        assert!(missing.is_empty(), "not in {LIST}: {missing:?}; {help}");
        let count = listed.programs.len();
        assert_eq!(count, sources.len(), "{LIST} is out of date; {help}");
    }
    let Some(compiler) = Compiler::all()
        .pop()
        .filter(|_| is_written || is_set("FUTHARK_TESTS_FULL"))
    else {
        return;
    };
    let features = parallel::map(&sources, parallel::processors(), |source| {
        let text = fs::read_to_string(source).unwrap();
        let compiled = compiled(source, &compiler);
        (
            key(&[text.as_bytes()]),
            Features::of(&text, compiled.as_ref()),
        )
    });
    let mut constructs = BTreeSet::new();
    let mut programs = Vec::new();
    for (source, (hash, mut features)) in sources.iter().zip(features) {
        let program = source.strip_prefix(&folder).unwrap().display().to_string();
        if !features.compiles {
            // It has a failure of its own, or an expected error.
            features.constructs.insert(Construct {
                topic: Topic::Program,
                name: format!("{program} does not compile"),
                scope: Scope::Run,
            });
        }
        constructs.extend(features.constructs.iter().cloned());
        programs.push((program, hash, features));
    }
    let constructs: Vec<Construct> = constructs.into_iter().collect();
    let lines = programs
        .into_iter()
        .map(|(program, source, features)| ListedProgram {
            program,
            source,
            compiles: features.compiles,
            tags: features.tags,
            constructs: (features.constructs.iter())
                .filter_map(|construct| constructs.binary_search(construct).ok())
                .collect(),
        });
    let lines: Vec<ListedProgram> = lines.collect();
    let text = written(&constructs, &lines);
    if is_written {
        fs::write(folder.join(LIST), text).unwrap();
    } else {
        assert_eq!(fs::read_to_string(folder.join(LIST)).unwrap(), text);
    }
}

/// The resolved manifest of a program, or nothing if it does not compile or its manifest is wrong.
fn compiled(source: &Path, compiler: &Compiler) -> Option<futhark_manifest::Program> {
    let work = tempfile::tempdir().unwrap();
    let mut command = Command::new(compiler.program());
    command.args(["c", "--library", "-o"]);
    command.args([&work.path().join("program"), source]);
    let output = process::run(&mut command).unwrap();
    output.status.success().then_some(())?;
    let text = fs::read_to_string(work.path().join("program.json")).unwrap();
    let program = Manifest::parse(&text).and_then(Manifest::into_program);
    program.ok()
}
