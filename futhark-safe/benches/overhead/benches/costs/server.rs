//! A client of the server program that `futhark c --server` makes: commands go through a pipe, values through
//! files in the binary format of Futhark.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// An argument.
pub enum Value<'a> {
    I32(i32),
    I64(i64),
    F32s(&'a [f32]),
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
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("server");
        std::fs::create_dir_all(&folder).expect("the target folder is writable");
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

    /// Sends the arguments, calls, and returns the bytes of the only result.
    pub fn run(&mut self, entry: &str, arguments: &[Value<'_>]) -> Vec<u8> {
        self.keep(arguments);
        let given = self.given();
        self.command(&format!("call {entry} out{given}"));
        let file = self.folder.join("out");
        self.command(&format!("store {} out", file.display()));
        self.command("free out");
        self.free();
        let mut bytes = std::fs::read(file).expect("the server stored the result");
        // The character "b", version, rank, four characters of the type, a size per dimension.
        let header = 7 + 8 * usize::from(bytes[2]);
        bytes.drain(..header);
        bytes
    }

    /// Sends arguments for `call`.
    pub fn keep(&mut self, arguments: &[Value<'_>]) {
        for (place, value) in arguments.iter().enumerate() {
            let (ty, bytes) = value.encode();
            let file = self.folder.join(format!("in{place}"));
            std::fs::write(&file, bytes).expect("the target folder is writable");
            self.command(&format!("restore {} in{place} {ty}", file.display()));
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
    }
}

impl Value<'_> {
    /// The type, and the value in the binary format.
    fn encode(&self) -> (&'static str, Vec<u8>) {
        let value = |ty: &str, sizes: &[usize], bytes: &mut dyn Iterator<Item = u8>| {
            let mut text = vec![b'b', 2, sizes.len() as u8];
            text.extend(format!("{ty:>4}").bytes());
            sizes
                .iter()
                .for_each(|n| text.extend((*n as u64).to_le_bytes()));
            text.extend(bytes);
            text
        };
        match self {
            Value::I32(x) => ("i32", value("i32", &[], &mut x.to_le_bytes().into_iter())),
            Value::I64(x) => ("i64", value("i64", &[], &mut x.to_le_bytes().into_iter())),
            Value::F32s(xs) => {
                let mut bytes = xs.iter().flat_map(|x| x.to_le_bytes());
                ("[]f32", value("f32", &[xs.len()], &mut bytes))
            }
        }
    }
}
