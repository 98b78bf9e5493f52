//! The command: serves on 127.0.0.1 until it is interrupted.
#![forbid(unsafe_code)]

use std::error::Error;
use std::net::Ipv4Addr;

use clap::Parser;
use futhark_example_service::{Shared, router};
use futhark_safe::{Backend, Config};

/// Serves a Futhark program by HTTP on 127.0.0.1.
#[derive(Parser)]
struct Options {
    /// c, multicore, opencl, ...; default: the first one that works
    #[arg(long)]
    backend: Option<Backend>,
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Adds the endpoints that use up memory and lose the context
    #[arg(long)]
    provoke: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let mut config = Config::new();
    if let Some(backend) = options.backend {
        config = config.backend(backend);
    }
    let shared = Shared::new(config)?;
    // Calls of one context run one after the other, so more threads would only wait.
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().max_blocking_threads(8).build()?;
    runtime.block_on(async {
        // This machine only: the server has neither TLS nor authentication.
        let address = (Ipv4Addr::LOCALHOST, options.port);
        let listener = tokio::net::TcpListener::bind(address).await?;
        let (address, backend) = (listener.local_addr()?, shared.current().ctx.backend());
        println!("listening on http://{address} ({backend})");
        let interrupt = async { tokio::signal::ctrl_c().await.expect("it can be handled") };
        axum::serve(listener, router(shared, options.provoke))
            .with_graceful_shutdown(interrupt)
            .await?;
        Ok(())
    })
}
