//! Prints to the standard output and the standard error. No other module does.
//!
//! A reader that closes the standard output, as `head` does, wants no more text: the rest is
//! dropped, and the program goes on, because it may still have files to write. Any other failure,
//! such as a full disk, is an error of [`finish`]. A standard error that cannot be written is ignored.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why the standard output cannot be written.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

fn failure() -> MutexGuard<'static, Option<io::Error>> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a text to the standard output.
pub fn out(text: fmt::Arguments<'_>) {
    let mut failure = failure();
    if failure.is_none() {
        *failure = io::stdout().lock().write_fmt(text).err();
    }
}

/// Prints a text to the standard error.
pub fn err(text: fmt::Arguments<'_>) {
    // There is no other place to report it.
    let _ = io::stderr().lock().write_fmt(text);
}

/// Writes what the standard output still holds back.
pub fn finish() -> io::Result<()> {
    let error = failure().take().or_else(|| io::stdout().flush().err());
    match error {
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Prints a line to the standard output, like `println`.
macro_rules! outln {
    ($($text:tt)*) => {
        $crate::say::out(format_args!("{}\n", format_args!($($text)*)))
    };
}

/// Prints a line to the standard error, like `eprintln`.
macro_rules! errln {
    ($($text:tt)*) => {
        $crate::say::err(format_args!("{}\n", format_args!($($text)*)))
    };
}

pub(crate) use {errln, outln};
