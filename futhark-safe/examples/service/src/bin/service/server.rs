//! Connections and threads.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use futhark_example_service::http::{Connection, Failure, Limits, Response};

use crate::reply;
use crate::routes::App;

/// How long a connection may be idle. Until then it occupies a thread.
const IDLE: Duration = Duration::from_secs(5);

/// Tells a server to stop.
#[derive(Clone)]
pub struct Stop {
    is_set: Arc<AtomicBool>,
    address: SocketAddr,
}

impl Stop {
    /// For the server that uses this listener.
    ///
    /// # Errors
    ///
    /// The listener has no address.
    pub fn new(listener: &TcpListener) -> io::Result<Stop> {
        Ok(Stop {
            is_set: Arc::default(),
            address: listener.local_addr()?,
        })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets the server answer the requests that it has received, and stop.
    pub fn stop(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        // `accept` cannot be interrupted; a connection ends it. If none can be made because too many
        // wait, those end it.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }

    fn is_set(&self) -> bool {
        self.is_set.load(Ordering::SeqCst)
    }
}

/// Serves connections until the app's [`Stop`] is used. Each of `threads` threads serves one connection
/// at a time; as many more wait, and others are answered with 503.
pub fn serve(listener: &TcpListener, threads: usize, app: &App) {
    let (sender, receiver) = sync_channel::<TcpStream>(threads);
    let receiver = Mutex::new(receiver);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| work(&receiver, app));
        }
        for stream in listener.incoming() {
            if app.stop().is_set() {
                break;
            }
            let Ok(stream) = stream else {
                // Such as too many open files, which lasts.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            if let Err(TrySendError::Full(stream)) = sender.try_send(stream) {
                reject(stream, app);
            }
        }
        // The workers end when the channel is empty.
        drop(sender);
    });
}

fn work(receiver: &Mutex<Receiver<TcpStream>>, app: &App) {
    loop {
        let next = receiver
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .recv();
        let Ok(stream) = next else { return };
        // A broken connection concerns its client only.
        if let Ok(connection) = Connection::new(stream, Limits::default()) {
            let _ = converse(connection, app);
        }
    }
}

/// Answers the requests of a connection, one after the other.
fn converse(mut connection: Connection, app: &App) -> io::Result<()> {
    while connection.wait(IDLE, || app.stop().is_set())? {
        let request = match connection.read_request() {
            Ok(request) => request,
            Err(Failure::Io(error)) => return Err(error),
            Err(Failure::Refused(status, message)) => {
                app.metrics().add(status, Duration::ZERO);
                connection.refuse(&closing(reply::refusal(status, "Http", &message)));
                return Ok(());
            }
        };
        let start = Instant::now();
        // A panic in a handler must not end the thread, of which there is a fixed number.
        let answer = catch_unwind(AssertUnwindSafe(|| app.answer(&request)));
        let mut response =
            answer.unwrap_or_else(|_| reply::refusal(500, "Panic", "the handler panicked"));
        response.keep_alive = request.keep_alive && !app.stop().is_set();
        app.metrics().add(response.status, start.elapsed());
        connection.write_response(&response)?;
        if !response.keep_alive {
            break;
        }
    }
    Ok(())
}

/// Refuses a connection because all threads are busy, without reading from it.
fn reject(stream: TcpStream, app: &App) {
    let limits = Limits {
        time: Duration::from_millis(100),
        ..Limits::default()
    };
    app.metrics().add(503, Duration::ZERO);
    if let Ok(mut connection) = Connection::new(stream, limits) {
        let busy = reply::refusal(503, "Busy", "all threads are busy");
        let _ = connection.write_response(&closing(busy));
    }
}

fn closing(response: Response) -> Response {
    Response {
        keep_alive: false,
        ..response
    }
}
