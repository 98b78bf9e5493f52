//! HTTP/1.1 over a blocking socket. `httparse` parses; this module reads, and limits size and time.
//!
//! Sufficient for requests with a body of known length. Put a proxy in front for TLS and the public.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The limits of a message.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the first line and the headers.
    pub head: usize,
    /// Bytes of the body.
    pub body: usize,
    /// From the first byte to the last one, and for a write.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            head: 8 << 10,
            body: 1 << 20,
            time: Duration::from_secs(5),
        }
    }
}

/// A connection, of either side.
pub struct Connection {
    stream: TcpStream,
    /// Bytes that were read but are not part of a message yet.
    buffer: Vec<u8>,
    limits: Limits,
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// In upper case, such as `GET`.
    pub method: String,
    /// Without the query.
    pub path: String,
    /// As many bytes as `Content-Length` says.
    pub body: Vec<u8>,
    /// Whether the client will send another request.
    pub keep_alive: bool,
}

/// A response, always JSON.
#[derive(Debug, PartialEq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// JSON.
    pub body: Vec<u8>,
    /// Whether the connection stays open.
    pub keep_alive: bool,
}

/// Why a message could not be read.
#[derive(Debug)]
pub enum Failure {
    /// The message is invalid or exceeds a limit: the status to answer with, and the reason.
    Refused(u16, String),
    /// The peer closed the connection, or it broke.
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// The connection failed.
    pub fn open(address: SocketAddr, limits: Limits) -> io::Result<Connection> {
        let stream = TcpStream::connect_timeout(&address, limits.time)?;
        Connection::new(stream, limits)
    }

    /// Uses a connection that a server accepted.
    ///
    /// # Errors
    ///
    /// The socket is broken.
    pub fn new(stream: TcpStream, limits: Limits) -> io::Result<Connection> {
        // A message is written at once, so waiting to fill a packet only delays it.
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(limits.time))?;
        Ok(Connection {
            stream,
            buffer: Vec::new(),
            limits,
        })
    }

    /// Waits for the first byte of a message. Returns whether there is one: `false` after `idle`, at the
    /// end of the stream, or if `stop` returns `true`, which is asked ten times per second.
    ///
    /// # Errors
    ///
    /// The connection broke.
    pub fn wait(&mut self, idle: Duration, stop: impl Fn() -> bool) -> io::Result<bool> {
        let deadline = Instant::now() + idle;
        while self.buffer.is_empty() {
            if stop() || Instant::now() >= deadline {
                return Ok(false);
            }
            match self.read(Duration::from_millis(100)) {
                Ok(0) => return Ok(false),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Reads a request. Call [`refuse`](Self::refuse) if it is refused.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn read_request(&mut self) -> Result<Request, Failure> {
        let (head, body) = self.read_message(true, parse_request)?;
        Ok(Request { body, ..head })
    }

    /// Reads a response.
    ///
    /// # Errors
    ///
    /// See [`Failure`].
    pub fn read_response(&mut self) -> Result<Response, Failure> {
        let (head, body) = self.read_message(false, parse_response)?;
        Ok(Response { body, ..head })
    }

    /// Writes a request.
    ///
    /// # Errors
    ///
    /// The connection broke.
    pub fn write_request(&mut self, method: &str, path: &str, body: &[u8]) -> io::Result<()> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.write(head, body)
    }

    /// Writes a response.
    ///
    /// # Errors
    ///
    /// The connection broke, or the client does not read.
    pub fn write_response(&mut self, response: &Response) -> io::Result<()> {
        let Response { status, body, .. } = response;
        let mut head = format!(
            "HTTP/1.1 {status} {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n",
            reason(*status),
            body.len()
        );
        if let Some(seconds) = response.retry_after {
            // Writing to a string cannot fail.
            let _ = write!(head, "Retry-After: {seconds}\r\n");
        }
        if !response.keep_alive {
            head.push_str("Connection: close\r\n");
        }
        head.push_str("\r\n");
        self.write(head, body)
    }

    /// Writes a response and closes the connection, although the client may still be sending.
    pub fn refuse(mut self, response: &Response) {
        // Closing a socket with unread bytes resets the connection, and the response may be lost.
        // So read what the client is sending, but not for long.
        let end = Instant::now() + Duration::from_secs(1);
        if self.write_response(response).is_ok() && self.stream.shutdown(Shutdown::Write).is_ok() {
            let mut read = 0;
            while let Some(left) = end.checked_duration_since(Instant::now())
                && read < 4 * self.limits.body
            {
                self.buffer.clear();
                match self.read(left) {
                    Ok(bytes) if bytes > 0 => read += bytes,
                    _ => break,
                }
            }
        }
    }

    /// Reads a message, whose head `parse` understands.
    fn read_message<H>(
        &mut self,
        is_request: bool,
        parse: fn(&[u8]) -> Parsed<H>,
    ) -> Result<(H, Vec<u8>), Failure> {
        let deadline = Instant::now() + self.limits.time;
        let head = loop {
            if let Some(head) = parse(&self.buffer)? {
                break head;
            }
            if self.buffer.len() > self.limits.head {
                let text = format!("expected at most {} bytes of headers", self.limits.head);
                return Err(Failure::Refused(431, text));
            }
            self.read_until(deadline)?;
        };
        if head.body > self.limits.body {
            let text = format!(
                "expected a body of at most {} bytes, got {}",
                self.limits.body, head.body
            );
            return Err(Failure::Refused(413, text));
        }
        if is_request && head.expects_continue && self.buffer.len() == head.bytes {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let end = head.bytes + head.body;
        while self.buffer.len() < end {
            self.read_until(deadline)?;
        }
        let body = self.buffer[head.bytes..end].to_vec();
        self.buffer.drain(..end);
        Ok((head.message, body))
    }

    /// Reads more bytes. The deadline is that of the message, so a slow client cannot extend it by
    /// sending a byte at a time.
    fn read_until(&mut self, deadline: Instant) -> Result<(), Failure> {
        let late = || {
            let text = "the message was not complete in time".to_owned();
            Failure::Refused(408, text)
        };
        let left = deadline
            .checked_duration_since(Instant::now())
            .ok_or_else(late)?;
        match self.read(left) {
            Ok(0) => Err(Failure::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(late()),
            Err(error) => Err(error.into()),
        }
    }

    /// Appends bytes to the buffer, or fails with `TimedOut`.
    fn read(&mut self, timeout: Duration) -> io::Result<usize> {
        // Zero would be an error.
        let timeout = timeout.max(Duration::from_millis(1));
        self.stream.set_read_timeout(Some(timeout))?;
        let mut bytes = [0; 16 << 10];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(n) => {
                    self.buffer.extend_from_slice(&bytes[..n]);
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Unix systems report a timeout as `WouldBlock`.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&mut self, head: String, body: &[u8]) -> io::Result<()> {
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.stream.write_all(&bytes)
    }
}

/// The first line and the headers.
struct Head<M> {
    /// Without its body.
    message: M,
    bytes: usize,
    /// The length of the body.
    body: usize,
    expects_continue: bool,
}

/// `None` if the head is not complete.
type Parsed<M> = Result<Option<Head<M>>, Failure>;

fn parse_request(bytes: &[u8]) -> Parsed<Request> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = request.parse(bytes).map_err(invalid)? else {
        return Ok(None);
    };
    let fields = Fields::of(request.headers)?;
    let target = request.path.unwrap_or_default();
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    Ok(Some(Head {
        message: Request {
            method: request.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            body: Vec::new(),
            keep_alive: request.version == Some(1) && !fields.close,
        },
        bytes: length,
        body: fields.length.unwrap_or(0),
        expects_continue: fields.expects_continue,
    }))
}

fn parse_response(bytes: &[u8]) -> Parsed<Response> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(bytes).map_err(invalid)? else {
        return Ok(None);
    };
    let fields = Fields::of(response.headers)?;
    Ok(Some(Head {
        message: Response {
            status: response.code.unwrap_or_default(),
            retry_after: fields.retry_after,
            body: Vec::new(),
            keep_alive: response.version == Some(1) && !fields.close,
        },
        bytes: length,
        body: fields.length.unwrap_or(0),
        expects_continue: false,
    }))
}

fn invalid(error: httparse::Error) -> Failure {
    let status = match error {
        httparse::Error::TooManyHeaders => 431,
        _ => 400,
    };
    Failure::Refused(status, format!("invalid HTTP: {error}"))
}

/// The headers that are used here.
#[derive(Default)]
struct Fields {
    length: Option<usize>,
    retry_after: Option<u32>,
    close: bool,
    expects_continue: bool,
}

impl Fields {
    fn of(headers: &[httparse::Header<'_>]) -> Result<Fields, Failure> {
        let mut fields = Fields::default();
        for header in headers {
            let is = |name: &str| header.name.eq_ignore_ascii_case(name);
            let text = str::from_utf8(header.value).unwrap_or_default().trim();
            if is("Content-Length") {
                // `parse` accepts a sign, HTTP does not.
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let length = text.parse().ok().filter(|_| digits);
                // Two lengths: proxy and server could disagree where the next request begins.
                if length.is_none() || fields.length.is_some() {
                    let text = "expected one Content-Length, a number".to_owned();
                    return Err(Failure::Refused(400, text));
                }
                fields.length = length;
            } else if is("Transfer-Encoding") {
                let text = "expected a body with Content-Length, got Transfer-Encoding".to_owned();
                return Err(Failure::Refused(411, text));
            } else if is("Retry-After") {
                fields.retry_after = text.parse().ok();
            } else if is("Connection") {
                fields.close |= text.eq_ignore_ascii_case("close");
            } else if is("Expect") {
                fields.expects_continue |= text.eq_ignore_ascii_case("100-continue");
            }
        }
        Ok(fields)
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        507 => "Insufficient Storage",
        _ => "Unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> u16 {
        match parse_request(text.as_bytes()) {
            Err(Failure::Refused(status, _)) => status,
            other => panic!("{text:?}: expected a refusal, got {:?}", other.map(|_| ())),
        }
    }

    #[test]
    fn a_request_is_parsed() {
        let text = "POST /at?x=1 HTTP/1.1\r\nContent-length: 12\r\nConnection: Close\r\n\r\n{";
        let head = parse_request(text.as_bytes()).unwrap().unwrap();
        let request = head.message;
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("POST", "/at")
        );
        assert!(!request.keep_alive);
        assert_eq!((head.bytes, head.body), (text.len() - 1, 12));
        assert!(parse_request(&text.as_bytes()[..30]).unwrap().is_none());
    }

    #[test]
    fn ambiguous_lengths_are_refused() {
        let line = "POST / HTTP/1.1\r\n";
        for length in ["+5", "-5", "5, 5", "", "99999999999999999999"] {
            assert_eq!(
                refused(&format!("{line}Content-Length: {length}\r\n\r\n")),
                400
            );
        }
        let twice = format!("{line}Content-Length: 5\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(refused(&twice), 400);
        let chunked = format!("{line}Transfer-Encoding: chunked\r\n\r\n");
        assert_eq!(refused(&chunked), 411);
        assert_eq!(refused("\0\r\n\r\n"), 400);
    }
}
