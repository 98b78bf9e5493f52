use super::*;
use futhark_manifest::Backend;

/// A job on the host, of a program by a compiler.
pub(crate) fn job(program: &str, compiler: &str) -> Job {
    let device = Device::host(Backend::C);
    Job {
        program: program.into(),
        id: JobId::new(&device, program.to_owned(), compiler.to_owned()),
        device,
        compiler: CompilerInfo::new(compiler, "futhark"),
        checks: Vec::new(),
        seconds: 0.0,
    }
}

/// The name of the case of `death`.
const PROCESS: &str = "lifecycle:process";

fn settings() -> Settings {
    Settings {
        executable: "x".into(),
        timeout: Duration::from_secs(10),
        scratch: Arc::new(TemporaryFolder::new(&std::env::temp_dir()).unwrap()),
        run: RunSpec::default(),
    }
}

struct End {
    ended: Vec<String>,
    case: Option<RunningCase>,
    death: Death,
}

fn after(state: &mut JobState, end: End) -> (Option<CaseResult>, bool) {
    state.earlier.ended.extend(end.ended);
    state.case = end.case;
    state.child_ended(Some(end.death))
}

/// The death of a child in a case with this budget, after another case.
fn death(cause: Cause, budget: Option<Duration>) -> End {
    let mut case = RunningCase::of_the_process(Instant::now());
    case.start.budget = budget;
    End {
        ended: vec!["compile".into()],
        case: Some(case),
        death: Death {
            cause,
            message: "m".into(),
        },
    }
}

#[test]
fn a_crash_fails_its_case_and_the_next_child_goes_on_with_the_others() {
    let mut state = JobState::new(&settings());
    let next = after(&mut state, death(Cause::Crash, None));
    assert!(matches!(next, (Some(result), true) if result.message == "m"));
    assert!(state.earlier.ended.contains("compile"));
    assert_eq!(state.earlier.fatal, [PROCESS.to_owned()].into());
    for _ in 2..MAX_DEATHS {
        let next = after(&mut state, death(Cause::Crash, None));
        assert!(matches!(next, (Some(_), true)));
    }
    let next = after(&mut state, death(Cause::Crash, None));
    assert!(matches!(next, (Some(_), false)));
}

#[test]
fn a_case_that_exceeds_its_budget_is_skipped() {
    let mut state = JobState::new(&settings());
    let end = death(Cause::Timeout, Some(Duration::from_secs(1)));
    let (Some(result), true) = after(&mut state, end) else {
        panic!("the case has no result")
    };
    assert_eq!(result.outcome, Outcome::Skip);
    assert!(result.message.starts_with("too slow for this check"));
    let earlier = &state.earlier;
    assert!(earlier.fatal.contains(PROCESS) && earlier.overruns == 1 && earlier.last_was_slow);
    let _ = after(&mut state, death(Cause::Crash, None));
    assert!(!state.earlier.last_was_slow);
}

#[test]
fn a_need_that_exceeds_its_budget_is_not_a_failure() {
    let mut state = JobState::new(&settings());
    let end = || {
        let mut end = death(Cause::Timeout, Some(Duration::from_secs(1)));
        end.case.as_mut().unwrap().start.is_needed = true;
        end
    };
    assert!(matches!(after(&mut state, end()), (None, true)));
    assert!(state.earlier.fatal.contains(PROCESS));
}

#[test]
fn a_death_between_cases_ends_the_job() {
    let mut state = JobState::new(&settings());
    let end = End {
        case: None,
        ..death(Cause::Crash, None)
    };
    let (Some(result), false) = after(&mut state, end) else {
        panic!("the job goes on")
    };
    assert_eq!(
        (result.check.as_str(), result.case.as_str()),
        ("lifecycle", "process")
    );
}
