//! Random walks: thousands of calls in random order, on one thread and on several. Each result is
//! compared with that of plain Rust, and the fake program checks every call.

use super::*;
use crate::Error;
use futhark_fake::types::FLOATS;

/// A value, its expected content, and its state with regard to waits.
struct Known {
    handle: Handle,
    content: Content,
    state: State,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Ints(Vec<i32>),
    Pair(i32, Vec<i32>),
    Points(Vec<i32>),
    Line(Vec<i32>, i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Complete,
    /// Started on a GPU, and not yet confirmed by a wait.
    Pending,
    /// Pending when a wait failed.
    Invalid,
}

struct Walk<'a> {
    core: &'a Arc<Core>,
    flavour: Flavour,
    random: fastrand::Rng,
    known: Vec<Known>,
    /// GPU: pending work will fail.
    failing: bool,
    /// Copies of arguments in the context so far.
    copies: u64,
}

const MOST: usize = 24;

/// The kinds of operations, some of which have two numbers.
const KINDS: usize = 17;

impl Walk<'_> {
    fn run(&mut self, steps: usize) {
        for step in 0..steps {
            while self.known.len() < 3 {
                self.make();
            }
            // Each kind once, also in a walk of few steps, if there is a value for it.
            let kind = match step {
                0..KINDS => step,
                _ => self.random.usize(..KINDS),
            };
            match kind {
                0 | 1 => self.make(),
                2 | 3 => self.forget(),
                4 | 5 => self.read_one(),
                6 => self.alias(),
                7 => self.double(),
                8 | 9 => self.overwrite(),
                10 => self.swap(),
                11 => self.gather(),
                12 => self.fail(),
                13 => self.wrap(),
                14 => self.unwrap(),
                15 => self.total(),
                _ => self.sync(),
            }
            while self.known.len() > MOST {
                self.forget();
            }
        }
        for _ in 0..self.known.len() {
            self.read_one();
        }
    }

    fn make(&mut self) {
        let n = self.random.usize(..6);
        let data: Vec<i32> = (0..n).map(|_| self.random.i32(..)).collect();
        let made = ffi::create(self.core, INTS, &[n], &data);
        self.waited(made.as_ref().err());
        if let Ok(handle) = made {
            self.keep(handle, Content::Ints(data), State::Complete);
        }
    }

    fn forget(&mut self) {
        let i = self.random.usize(..self.known.len());
        self.known.swap_remove(i);
    }

    fn read_one(&mut self) {
        let i = self.random.usize(..self.known.len());
        let Known { handle, .. } = &self.known[i];
        let (content, state) = (self.known[i].content.clone(), self.known[i].state);
        let read = match &content {
            Content::Ints(_) => read(handle).map(Content::Ints),
            Content::Pair(..) => self.read_pair(handle),
            Content::Points(_) => self.read_points(handle),
            Content::Line(..) => self.read_line(handle),
        };
        if self.judge(state, read.as_ref().err()) {
            assert_eq!(read.unwrap(), content);
        }
    }

    fn read_pair(&self, pair: &Handle) -> Result<Content> {
        let xs = value(self.core, "project_opaque_pair_xs", [Input::Observed(pair)])?;
        let xs = read(&xs)?;
        let n = int(self.core, "project_opaque_pair_n", [Input::Observed(pair)])?;
        Ok(Content::Pair(n, xs))
    }

    fn read_points(&self, points: &Handle) -> Result<Content> {
        // From a copy, one by one.
        let points = ffi::restore(self.core, &ffi::store(points)?)?;
        let n = ffi::shape(&points)?[0];
        let ys = (0..n as i64).map(|i| {
            let point = ffi::index_value(&points, &[i], ffi::Bounds::Ours)?;
            int(
                self.core,
                "project_opaque_point_y",
                [Input::Observed(&point)],
            )
        });
        Ok(Content::Points(ys.collect::<Result<_>>()?))
    }

    fn read_line(&self, line: &Handle) -> Result<Content> {
        let (mut xs, mut n) = (Output::value(INTS), Output::scalar(ElemType::I32));
        let destruct = function(self.core, "destruct_opaque_shape_line");
        let outputs = &mut [&mut xs, &mut n];
        call(self.core, destruct, [Input::Observed(line)], outputs)?;
        let n = i32::from_c(n.to_scalar());
        Ok(Content::Line(read(&xs.take_handle())?, n))
    }

    fn alias(&mut self) {
        let Some((i, data)) = self.some_ints() else {
            return;
        };
        let state = self.known[i].state;
        let made = identity(self.core, &self.known[i].handle);
        self.started(made, state, Content::Ints(data));
    }

    fn double(&mut self) {
        let Some((i, data)) = self.some_ints() else {
            return;
        };
        let state = self.known[i].state;
        let made = value(
            self.core,
            "entry_double",
            [Input::Observed(&self.known[i].handle)],
        );
        let doubled = data.iter().map(|x| x.wrapping_mul(2)).collect();
        self.started(made, state, Content::Ints(doubled));
    }

    fn total(&mut self) {
        let Some((i, data)) = self.some_ints() else {
            return;
        };
        let state = self.known[i].state;
        let total = total(self.core, &self.known[i].handle);
        if self.judge(state, total.as_ref().err()) {
            let expected = data.into_iter().fold(0, i32::wrapping_add);
            assert_eq!(total.unwrap(), expected);
        }
    }

    /// Consumes an array, or the array of a record.
    fn overwrite(&mut self) {
        let i = self.random.usize(..self.known.len());
        let to = self.random.i32(..);
        let (name, mut data) = match &self.known[i].content {
            Content::Ints(data) => ("entry_set_first", data.clone()),
            Content::Pair(_, data) => ("entry_poke", data.clone()),
            _ => return,
        };
        let Known { handle, state, .. } = self.known.swap_remove(i);
        let made = value(self.core, name, [Input::Consumed(handle), scalar(to)]);
        let Some(first) = data.first_mut() else {
            let error = made.unwrap_err();
            self.failed_on_its_own(&error, state);
            return;
        };
        *first = to;
        self.started(made, state, Content::Ints(data));
    }

    fn swap(&mut self) {
        let Some((i, a)) = self.some_ints() else {
            return;
        };
        let first = self.known.swap_remove(i);
        let Some((j, b)) = self.some_ints() else {
            return;
        };
        let second = self.known.swap_remove(j);
        let state = first.state.max(second.state);
        let inputs = [
            Input::Consumed(first.handle),
            Input::Consumed(second.handle),
        ];
        let made = two_values(self.core, "entry_swap", inputs);
        if self.judge_start(state, made.as_ref().err()) {
            let (one, two) = made.unwrap();
            let pending = self.pending();
            for (handle, mut data) in [(one, b), (two, a)] {
                data.reverse();
                self.keep(handle, Content::Ints(data), pending);
            }
        }
    }

    /// Sometimes out of bounds: an error now on the host, later on a GPU.
    fn gather(&mut self) {
        let Some((i, xs)) = self.some_ints() else {
            return;
        };
        let Some((j, is)) = self.some_ints() else {
            return;
        };
        let state = self.known[i].state.max(self.known[j].state);
        let made = gather(self.core, &self.known[i].handle, &self.known[j].handle);
        let found = is
            .iter()
            .map(|&i| xs.get(usize::try_from(i).ok()?).copied());
        let found: Vec<Option<i32>> = found.collect();
        let fails = found.contains(&None);
        if fails && self.flavour == Flavour::Host {
            assert_eq!(made.unwrap_err().kind(), ErrorKind::Program);
            return;
        }
        // The content of a failed result is never compared, only its length.
        let data = found.into_iter().map(Option::unwrap_or_default).collect();
        let started = made.is_ok();
        self.started(made, state, Content::Ints(data));
        self.failing |= fails && started;
    }

    fn fail(&mut self) {
        let Some((i, _)) = self.some_ints() else {
            return;
        };
        let how = self.random.usize(..3) as i32;
        let Known { handle, state, .. } = self.known.swap_remove(i);
        let made = value(
            self.core,
            "entry_fail",
            [scalar(how), Input::Consumed(handle)],
        );
        let error = made.unwrap_err();
        self.failed_on_its_own(&error, state);
    }

    /// Puts an array into a record, a sum, or an array of records.
    fn wrap(&mut self) {
        let Some((i, data)) = self.some_ints() else {
            return;
        };
        let number = self.random.i32(..);
        let Known { handle, state, .. } = &self.known[i];
        let state = *state;
        let (made, content) = match self.random.usize(..3) {
            0 => {
                let made = pair(self.core, number, handle);
                (made, Content::Pair(number, data))
            }
            1 => {
                let inputs = [Input::Observed(handle), scalar(number)];
                let made = value(self.core, "new_opaque_shape_line", inputs);
                (made, Content::Line(data, number))
            }
            _ => {
                let floats = vec![0.5f32; data.len()];
                let floats = ffi::create(self.core, FLOATS, &[data.len()], &floats);
                self.waited(floats.as_ref().err());
                let Ok(floats) = floats else { return };
                let made = zip(self.core, &floats, &self.known[i].handle);
                (made, Content::Points(data))
            }
        };
        self.taken(i, made, state, content);
    }

    fn unwrap(&mut self) {
        let i = self.random.usize(..self.known.len());
        let Known { handle, state, .. } = &self.known[i];
        let state = *state;
        let (name, data) = match &self.known[i].content {
            Content::Pair(_, data) => ("project_opaque_pair_xs", data.clone()),
            Content::Points(data) => ("project_opaque_points_y", data.clone()),
            _ => return,
        };
        let made = value(self.core, name, [Input::Observed(handle)]);
        self.taken(i, made, state, Content::Ints(data));
    }

    fn sync(&mut self) {
        let synced = sync(self.core);
        self.waited(synced.as_ref().err());
    }

    /// One of the arrays of integers.
    fn some_ints(&mut self) -> Option<(usize, Vec<i32>)> {
        let start = self.random.usize(..self.known.len().max(1));
        let mut places = (start..self.known.len()).chain(0..start.min(self.known.len()));
        places.find_map(|i| match &self.known[i].content {
            Content::Ints(data) => Some((i, data.clone())),
            _ => None,
        })
    }

    fn pending(&self) -> State {
        match self.flavour {
            Flavour::Host => State::Complete,
            Flavour::Gpu => State::Pending,
        }
    }

    fn keep(&mut self, handle: Handle, content: Content, state: State) {
        self.known.push(Known {
            handle,
            content,
            state,
        });
    }

    /// Records the call of an entry point that returns an array, with arguments in `state`.
    fn started(&mut self, made: Result<Handle>, state: State, content: Content) {
        if self.judge_start(state, made.as_ref().err()) {
            let pending = self.pending();
            self.keep(made.unwrap(), content, pending);
        }
    }

    /// Records that a value was made from value `i` without computing, so it has the same state.
    fn taken(&mut self, i: usize, made: Result<Handle>, before: State, content: Content) {
        if self.judge_start(before.max(self.known[i].state), made.as_ref().err()) {
            let state = self.known[i].state;
            self.keep(made.unwrap(), content, state);
        }
    }

    /// Verifies the outcome of a call that does not wait, or only to copy shared arguments. Returns
    /// whether it succeeded.
    fn judge_start(&mut self, state: State, error: Option<&Error>) -> bool {
        match error {
            None => {
                assert_ne!(state, State::Invalid, "an invalid value was accepted");
                if self.has_copied() {
                    self.waited(None);
                }
            }
            Some(_) if state == State::Invalid => {}
            Some(error) => {
                assert!(self.failing, "{error}");
                self.wait_failed(error);
            }
        }
        error.is_none()
    }

    /// Whether an argument was copied since the last question, which waits.
    fn has_copied(&mut self) -> bool {
        let copies: u64 = self.core.copies().iter().map(|copies| copies.count).sum();
        std::mem::replace(&mut self.copies, copies) != copies
    }

    /// Verifies the outcome of reading a value in `state`. Returns whether it succeeded.
    fn judge(&mut self, state: State, error: Option<&Error>) -> bool {
        if state == State::Invalid {
            assert!(error.is_some(), "an invalid value was read");
            return false;
        }
        self.waited(error);
        error.is_none()
    }

    /// Verifies the outcome of a wait, which fails exactly if pending work was failing.
    fn waited(&mut self, error: Option<&Error>) {
        match error {
            Some(error) => {
                assert!(self.failing, "{error}");
                self.wait_failed(error);
            }
            None => {
                assert!(!self.failing, "a failure was not reported");
                self.wait_succeeded();
            }
        }
    }

    /// Records a failure of the call itself, after which the C side waits.
    fn failed_on_its_own(&mut self, error: &Error, state: State) {
        self.has_copied();
        match state {
            // The call was rejected before it ran.
            State::Invalid => {}
            _ if self.failing => self.wait_failed(error),
            _ => self.wait_succeeded(),
        }
    }

    fn wait_succeeded(&mut self) {
        for known in &mut self.known {
            if known.state == State::Pending {
                known.state = State::Complete;
            }
        }
    }

    fn wait_failed(&mut self, error: &Error) {
        assert!(error.to_string().contains("out of bounds"), "{error}");
        self.failing = false;
        for known in &mut self.known {
            if known.state == State::Pending {
                known.state = State::Invalid;
            }
        }
    }
}

fn walk(core: &Arc<Core>, flavour: Flavour, seed: u64, steps: usize) {
    // Shown when the test fails.
    eprintln!("seed {seed}");
    let mut walk = Walk {
        core,
        flavour,
        random: fastrand::Rng::with_seed(seed),
        known: Vec::new(),
        failing: false,
        copies: 0,
    };
    walk.run(steps);
}

#[test]
fn random_calls_on_one_thread_match_plain_rust() {
    for flavour in FLAVOURS {
        for seed in 0..times(200) as u64 {
            let world = World::new();
            walk(&world.core(flavour), flavour, seed, times(1000).max(KINDS));
        }
    }
}

/// Several walks at a time in one context.
#[test]
fn random_calls_on_several_threads_match_plain_rust() {
    for seed in 0..times(20) as u64 {
        let (_world, core) = world_and_core(Flavour::Host);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let core = &core;
                let steps = times(1000).max(KINDS);
                scope.spawn(move || walk(core, Flavour::Host, 4 * seed + thread, steps));
            }
        });
    }
}
