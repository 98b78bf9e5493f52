//! A client of the server program that `futhark c --server` makes: commands go through a pipe, values through
//! files in the binary format of Futhark.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An argument, little-endian.
pub struct Value<'a> {
    /// Such as "i32" or "[]f32".
    pub ty: &'static str,
    /// The number of elements of an array.
    pub elements: Option<usize>,
    pub bytes: &'a [u8],
}

/// A running server.
pub struct Server {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
    /// The arguments that are in the server.
    kept: usize,
}

impl Server {
    pub fn start(program: OsString) -> Server {
        // A file system in memory, if there is one: the fastest way to give values to the server.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            memory
        } else {
            Path::new(env!("CARGO_TARGET_TMPDIR"))
        };
        let folder = parent.join(format!("futhark-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for values is writable");
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let commands = child.stdin.take().expect("stdin is a pipe");
        let answers = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        let mut server = Server {
            child,
            commands,
            answers,
            folder,
            kept: 0,
        };
        server.answer("the start");
        server
    }

    /// Sends the arguments, calls, and returns the only result, in the binary format: the value is
    /// at the end.
    pub fn run(&mut self, entry: &str, arguments: &[Value<'_>]) -> Vec<u8> {
        self.keep(arguments);
        let given = self.given();
        self.command(&format!("call {entry} out{given}"));
        let file = self.folder.join("out");
        self.command(&format!("store {} out", file.display()));
        self.command("free out");
        self.free();
        std::fs::read(file).expect("the server stored the result")
    }

    /// Sends arguments for `call`.
    pub fn keep(&mut self, arguments: &[Value<'_>]) {
        for (place, value) in arguments.iter().enumerate() {
            let file = self.folder.join(format!("in{place}"));
            std::fs::write(&file, value.encode()).expect("the folder for values is writable");
            self.command(&format!(
                "restore {} in{place} {}",
                file.display(),
                value.ty
            ));
        }
        self.kept = arguments.len();
    }

    /// Calls with the arguments in the server, and discards the result.
    pub fn call(&mut self, entry: &str) {
        let given = self.given();
        self.command(&format!("call {entry} out{given}"));
        self.command("free out");
    }

    /// Frees the arguments in the server.
    pub fn free(&mut self) {
        let given = self.given();
        self.command(&format!("free{given}"));
        self.kept = 0;
    }

    fn given(&self) -> String {
        (0..self.kept).map(|place| format!(" in{place}")).collect()
    }

    fn command(&mut self, command: &str) {
        // One write: a line in two would wake the server twice.
        self.commands
            .write_all(format!("{command}\n").as_bytes())
            .expect("the server runs");
        self.answer(command);
    }

    fn answer(&mut self, command: &str) {
        let mut text = String::new();
        loop {
            let start = text.len();
            let read = self
                .answers
                .read_line(&mut text)
                .expect("the server answers");
            match text[start..].trim_end() {
                "%%% OK" => return,
                "%%% FAILURE" => panic!("the server failed at {command}: {text}"),
                _ => assert!(read > 0, "the server ended at {command}: {text}"),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Value<'_> {
    /// The value in the binary format.
    fn encode(&self) -> Vec<u8> {
        let mut text = vec![b'b', 2, u8::from(self.elements.is_some())];
        let ty = self.ty.trim_start_matches("[]");
        text.extend(format!("{ty:>4}").bytes());
        text.extend(self.elements.iter().flat_map(|n| (*n as u64).to_le_bytes()));
        text.extend(self.bytes);
        text
    }
}
