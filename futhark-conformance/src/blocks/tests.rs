use super::*;

fn read(source: &str) -> TestBlocks {
    TestBlocks::parse(source).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(source: &str) -> BlockError {
    match TestBlocks::parse(source) {
        Err(error) => error,
        Ok(blocks) => panic!("accepted as {blocks:?}"),
    }
}

fn text(source: &Source) -> &str {
    match source {
        Source::Text(text) => text.trim(),
        other => panic!("expected a text, got {other:?}"),
    }
}

#[test]
fn entries_inputs_and_outputs_are_parsed() {
    let blocks = read(
        "-- Adds.\n-- ==\n-- entry: inc inc'\n-- input { 1 } output { 2 }\n-- input { [1,\n-- 2] }\n-- output { [2,3] }\n\nentry inc x = x + 1\n",
    );
    let shown: Vec<_> = blocks
        .cases
        .iter()
        .map(|c| (&*c.entry, &*c.name, c.line))
        .collect();
    assert_eq!(
        shown,
        [
            ("inc", "#0", 4),
            ("inc", "#1", 5),
            ("inc'", "#0", 4),
            ("inc'", "#1", 5)
        ]
    );
    assert_eq!(text(&blocks.cases[0].input), "1");
    let Expected::Values(output) = &blocks.cases[1].expected else {
        panic!()
    };
    assert_eq!(text(output), "[2,3]");
}

#[test]
fn case_names_are_made_unique() {
    let blocks = read(
        "-- ==\n-- entry: f\n-- input {1} output {1}\n\n-- ==\n-- entry: f\n-- input {2} output {2}\n-- \"third\" input {3}\n",
    );
    let names: Vec<_> = blocks.cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names, ["#0 (line 3)", "#0 (line 7)", "third"]);
    let blocks = read("-- ==\n-- input {1}\n-- \"#0 (line 2)\" input {2}\n\n-- ==\n-- input {3}\n");
    let names: Vec<_> = blocks.cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names, ["#0 (line 2)", "#0 (line 2)'", "#0 (line 6)"]);
}

#[test]
fn an_entry_point_that_is_named_twice_is_called_once() {
    let entries = "f ".repeat(10_000);
    let blocks = read(&format!("-- ==\n-- entry: {entries}\n-- input {{1}}\n"));
    assert_eq!(blocks.cases.len(), 1);
}

#[test]
fn expressions_have_a_maximum_size() {
    let error = refused("-- ==\n-- input {1} error: (a{999}){999}\n");
    assert!(
        error.message.contains("invalid regular expression"),
        "{error}"
    );
}

#[test]
fn tags_of_programs_and_cases_are_parsed() {
    let blocks = read(
        "-- ==\n-- tags { no_opencl kills-the-process }\n-- entry: f\n-- compiled nobench input { 1 }\n-- \"big\" notest input { 2 }\n",
    );
    assert_eq!(blocks.tags, ["no_opencl", "kills-the-process"]);
    assert_eq!(*blocks.cases[0].tags, ["compiled", "nobench"]);
    assert_eq!(&*blocks.cases[1].name, "big");
    assert_eq!(*blocks.cases[1].tags, ["notest"]);
}

#[test]
fn expected_errors_are_regular_expressions() {
    let blocks = read(
        "-- ==\n-- entry: f\n-- input { 1 } error: Index \\[.*\\] out\n-- input { 2 }\n-- error:\n-- the next line\n-- input { 3 } error:\n",
    );
    let matches = |case: usize, text: &str| {
        let pattern = blocks.cases[case].expected_error().unwrap();
        pattern.matches(text)
    };
    assert!(matches(0, "Error: Index [10] out of bounds\n"));
    assert!(!matches(0, "division by zero"));
    assert!(matches(1, "this is the next line") && !matches(1, "this"));
    assert!(matches(2, ""));
    assert_eq!(blocks.cases.len(), 3);
    assert_eq!(refused("-- ==\n-- input { 1 }\n-- error: (\n").line, 3);
}

#[test]
fn expected_compile_errors_are_parsed() {
    let blocks = read("-- ==\n-- error: .*not in scope\n\nentry f = x\n");
    assert!(blocks.compile_error.is_some());
    assert!(blocks.cases.is_empty());
    assert_eq!(
        refused("-- ==\n-- error: a\n\n-- ==\n-- input {}\n").line,
        4
    );
}

#[test]
fn values_can_be_in_files_generated_or_from_scripts() {
    let blocks = read(
        "-- ==\n-- input @ data/a.in\n-- output @ data/a.out.gz\n-- random input { [10]i32 f32 } auto output\n-- script input { (iota 3, \"}\") }\n-- script input @ s.fut\n",
    );
    let inputs: Vec<_> = blocks.cases.iter().map(|case| &case.input).collect();
    assert_eq!(inputs[0], &Source::File(Path::new("data/a.in").into()));
    assert!(matches!(
        &blocks.cases[0].expected,
        Expected::Values(Source::File(_))
    ));
    assert!(matches!(inputs[1], Source::Random(types) if types.trim() == "[10]i32 f32"));
    assert!(matches!(blocks.cases[1].expected, Expected::Auto));
    assert!(matches!(inputs[2], Source::Script(script) if script.contains("\"}\"")));
    assert!(matches!(inputs[3], Source::ScriptFile(_)));
}

#[test]
fn cases_have_their_span_in_the_source() {
    let source = "-- å\n-- ==\n-- entry: f\n-- input { 1 } output { 1 } random\n-- input { i32 }\n";
    let blocks = read(source);
    let [first, second] = blocks.cases.as_slice() else {
        panic!()
    };
    assert_eq!(&source[first.span.clone()], "input { 1 } output { 1 }");
    assert_eq!(&source[first.result_at..first.span.end], " output { 1 }");
    assert_eq!(&source[second.span.clone()], "random\n-- input { i32 }");
    assert_eq!(second.line, 4);
}

#[test]
fn tags_exclude_cases_and_programs() {
    let blocks = read(
        "-- ==\n-- no_opencl input { 1 }\n-- disable input { 2 }\n-- notest input { 3 }\n-- whatever input { 4 }\n",
    );
    let excluded = |backend| -> Vec<bool> {
        let cases = blocks.cases.iter();
        cases.map(|case| case.excluded(backend).is_some()).collect()
    };
    assert_eq!(excluded(Backend::C), [false, true, true, false]);
    assert_eq!(excluded(Backend::OpenCl), [true, true, true, false]);
    assert!(blocks.disabled_by_tag().is_none());
    let disabled = |tags: &str| read(&format!("-- ==\n-- tags {{ {tags} }}\n")).disabled_by_tag();
    assert_eq!(disabled("a disable").as_deref(), Some("tagged disable"));
    assert_eq!(disabled("a no_c").as_deref(), None);
}

#[test]
fn duplicate_names_in_a_block_are_rejected() {
    for cases in [
        "-- \"a\" input { 1 }\n-- \"a\" input { 2 }\n",
        "-- input @ a.in\n-- input @ a.in.gz\n",
        "-- random input { i32  i8 }\n-- random input { i32 i8 } auto output\n",
    ] {
        assert_eq!(refused(&format!("-- ==\n{cases}")).line, 3, "{cases}");
    }
}

#[test]
fn scripts_and_types_are_validated_while_parsing() {
    assert_eq!(
        refused("-- ==\n-- random input { i32\n--   []i32 }\n").line,
        3
    );
    assert_eq!(refused("-- ==\n-- script input { f (\n-- 1 }\n").line, 3);
}

#[test]
fn tags_structure_and_warnings_belong_to_the_first_block() {
    let second =
        |text: &str| format!("-- ==\n-- input {{ 1 }}\n\n-- ==\n-- input {{ 2 }}\n-- {text}\n");
    for text in ["structure { Map 1 }", "warning: x", "tags { a }"] {
        assert_eq!(refused(&second(text)).line, 6, "{text}");
    }
}

#[test]
fn structure_is_ignored_and_warnings_are_kept() {
    let blocks = read(
        "-- ==\n-- input { 1 } output { 1 }\n-- structure gpu { SegMap 1 }\n-- structure { Map/Scan 0 }\n-- warning: .*unused\n",
    );
    assert_eq!(blocks.cases.len(), 1);
    assert_eq!(blocks.warnings.len(), 1);
    let blocks = read("-- ==\n-- structure { Map 1 }\n");
    assert!(blocks.cases.is_empty());
}

#[test]
fn syntax_errors_have_a_line() {
    assert_eq!(refused("\n-- ==\n-- input { 1\n").line, 3);
    assert_eq!(
        refused("-- ==\n-- input { 1 }\n-- output { [1,\n--   x] }\n").line,
        4
    );
    assert_eq!(
        refused("-- ==\n-- input 1\n").message,
        "expected '{', found \"1\""
    );
    assert_eq!(refused("-- ==\n-- inptu { 1 }\n").line, 2);
    assert_eq!(refused("-- ==\n-- input { 1 } ouptut { 1 }\n").line, 2);
}

#[test]
fn only_the_exact_marker_starts_a_block() {
    let blocks = read("-- A comment.\n--==\n-- x\n--  ==\n-- x\nentry f = 1\n");
    assert!(blocks.cases.is_empty() && blocks.tags.is_empty());
    assert_eq!(refused("-- == not alone on its line\n\n").line, 2);
    assert!(read("").cases.is_empty());
}

#[test]
fn messages_quote_only_the_beginning_of_a_text() {
    let long = "x(".repeat(1000);
    for block in [
        format!("-- input {long}\n"),
        format!("-- input {{ 1 }} error: {long}\n"),
        format!("-- input {{ 1 }} error: a{{9999}}{{9999}}{{9999}}{long}\n"),
        format!("-- \"{long}\" input {{ 1 }} \n-- \"{long}\" input {{ 1 }}\n"),
        format!("-- random input {{ {long} }}\n"),
    ] {
        let message = refused(&format!("-- ==\n{block}")).message;
        assert!(message.len() < 300, "{message}");
    }
}

#[test]
fn cases_are_limited_for_each_program() {
    let block = |entries: usize, cases: usize| {
        let names: String = (0..entries).map(|number| format!(" f{number}")).collect();
        format!(
            "-- ==\n-- entry:{names}\n{}\n",
            "-- input { 1 }\n".repeat(cases)
        )
    };
    let most = [block(100, 60), block(50, 80)].concat();
    assert_eq!(read(&most).cases.len(), MOST_CASES);
    for more in [
        most + &block(1, 1),
        block(5_000, 200),
        block(1, MOST_CASES + 1),
    ] {
        let error = refused(&more);
        assert!(
            error.message.starts_with("more than 10000 test cases"),
            "{error}"
        );
        assert!(error.line > 1);
    }
}

/// The seconds that this thread has computed.
fn computed() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = spent
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    nanoseconds.unwrap_or(0.0) / 1e9
}

/// Counting lines from the start for each case would take some 10 s, and a copy of a case for each entry
/// point 10 MB.
#[test]
fn a_long_block_is_parsed_once_and_its_cases_are_shared() {
    let long = "x".repeat(1_000);
    let names: String = (0..MOST_CASES)
        .map(|number| format!(" f{number}"))
        .collect();
    let blocks = read(&format!(
        "-- ==\n-- entry:{names}\n-- \"{long}\" input {{ 1 }}\n"
    ));
    let (first, last) = (&blocks.cases[0], &blocks.cases[MOST_CASES - 1]);
    assert!(Arc::ptr_eq(&first.name, &last.name) && Arc::ptr_eq(&first.tags, &last.tags));

    let case = format!("-- input {{ 1 }}\n{}", "--\n".repeat(99));
    let begun = computed();
    let blocks = read(&format!("-- ==\n{}", case.repeat(2_000)));
    assert_eq!(blocks.cases[1_999].line, 2 + 199_900);
    let seconds = computed() - begun;
    assert!(seconds < 6.0, "{seconds}");
}

#[test]
fn names_have_a_maximum_length() {
    let long = "x".repeat(1_001);
    for block in [
        format!("-- entry: f {long}\n-- input {{ 1 }}"),
        format!("-- \"{long}\" input {{ 1 }}"),
    ] {
        let error = refused(&format!("-- ==\n{block}\n"));
        assert!(error.message.contains("1001 bytes"), "{error}");
        assert!(error.message.len() < 150, "{error}");
    }
}
