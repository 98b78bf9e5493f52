//! Reads lines of bounded length, so that a process that prints a line without end takes no memory.

use std::io::{BufRead, BufReader, Read};

/// The lines of a stream, without line ends, each with the number of bytes that were left out of a line
/// that is too long, its end included. A read error ends the stream.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    most: usize,
}

impl<R: Read> Lines<R> {
    /// Keeps at most `most` bytes of each line.
    pub fn new(stream: R, most: usize) -> Lines<R> {
        Lines {
            reader: BufReader::new(stream),
            most,
        }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = (Vec<u8>, u64);

    fn next(&mut self) -> Option<(Vec<u8>, u64)> {
        let mut line = Vec::new();
        let most = self.most as u64;
        // A line of the maximum length and its end.
        let mut start = self.reader.by_ref().take(most + 1);
        let _ = start.read_until(b'\n', &mut line);
        if line.is_empty() {
            return None;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            return Some((line, 0));
        }
        if line.len() <= self.most {
            return Some((line, 0));
        }
        line.pop();
        let rest = self.reader.skip_until(b'\n').unwrap_or(0);
        Some((line, 1 + rest as u64))
    }
}

/// The beginning and the end of a text, with a line in brackets between them, if it is longer than
/// `most` bytes.
#[must_use]
pub fn shortened(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let boundary = |index: &usize| text.is_char_boundary(*index);
    let first = (0..=most / 2).rev().find(boundary).unwrap_or(0);
    let last = (text.len() - most / 2..).find(boundary);
    let last = last.unwrap_or(text.len());
    format!(
        "{}\n[{} bytes omitted]\n{}",
        &text[..first],
        last - first,
        &text[last..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_the_rest_is_counted() {
        let text = [b"one\n\n".to_vec(), vec![b'x'; 100_000], b"\nlast".to_vec()].concat();
        let lines: Vec<_> = Lines::new(&text[..], 10).collect();
        let kept: Vec<_> = lines
            .iter()
            .map(|(line, omitted)| (String::from_utf8_lossy(line).into_owned(), *omitted))
            .collect();
        let expected = [("one", 0), ("", 0), ("xxxxxxxxxx", 99_991), ("last", 0)];
        assert_eq!(
            kept,
            expected.map(|(line, omitted)| (line.to_owned(), omitted))
        );
    }

    #[test]
    fn long_texts_keep_their_beginning_and_end() {
        assert_eq!(shortened("short".to_owned(), 5), "short");
        let text = format!("a{}z", "ä".repeat(1000));
        let short = shortened(text, 11);
        assert_eq!(short, "aää\n[1992 bytes omitted]\nääz");
    }
}
