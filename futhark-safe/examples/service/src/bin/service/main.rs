//! An HTTP server that computes with a Futhark program. All requests share one context.
//!
//! `shared` keeps the context and replaces a lost one, `routes` calls the entry points, `reply` turns
//! errors into responses. `server` and `metrics` would be part of a web framework otherwise.
#![forbid(unsafe_code)]

mod metrics;
mod options;
mod reply;
mod routes;
mod server;
mod shared;

use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::process::ExitCode;
use std::thread;

use futhark_safe::Config;
use options::Options;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{}", options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let mut config = Config::new();
    if let Some(backend) = options.backend {
        config = config.backend(backend);
    }
    let shared = shared::Shared::new(config).map_err(|error| error.to_string())?;
    let context = |error| format!("cannot listen on 127.0.0.1:{}: {error}", options.port);
    // This machine only: the server has neither TLS nor authentication.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).map_err(context)?;
    let stop = server::Stop::new(&listener).map_err(context)?;
    let app = routes::App::new(shared, options.provoke, stop.clone());

    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| error.to_string())?;
    let signals_handle = signals.handle();
    let watcher = thread::spawn(move || {
        for (earlier, _) in signals.forever().enumerate() {
            match earlier {
                0 => stop.stop(),
                // A call that does not end cannot be interrupted.
                _ => signal_hook::low_level::exit(1),
            }
        }
    });
    let (address, backend) = (app.stop().address(), app.shared().backend());
    say(&format!("listening on http://{address} ({backend})"));
    server::serve(&listener, options.threads, &app);

    signals_handle.close();
    let _ = watcher.join();
    let requests = app.metrics().requests();
    app.into_shared()
        .close()
        .map_err(|error| format!("closing the context: {error}"))?;
    say(&format!("stopped after {requests} requests"));
    Ok(())
}

/// Prints a line at once, since the parent process may wait for it. The server works without a standard
/// output too.
fn say(line: &str) {
    let mut output = std::io::stdout();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
