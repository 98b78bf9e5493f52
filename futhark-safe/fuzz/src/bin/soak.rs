//! Runs users of both interfaces on eight threads, and watches memory: `soak --minutes N [BACKEND...]`, by default on c,
//! multicore, and cuda with the emulated device; on opencl with one thread.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use futhark_safe::Backend;
use futhark_safe_fuzz::c::C;
use futhark_safe_fuzz::face::{Face, Rust};
use futhark_safe_fuzz::user::{self, OP, User};

const THREADS: u64 = 8;

static STOP: AtomicBool = AtomicBool::new(false);

/// The operations between two checks of all values of a user, and the number of these rounds before it drops them.
const ROUND: usize = 200;
const ROUNDS: usize = 20;

/// Memory may grow by this after the warm-up: values that users hold, and pages that the allocator keeps.
const MOST_GROWTH_MIB: u64 = 16;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (minutes, backends): (u64, Vec<Backend>) = match &arguments[..] {
        [option, n, backends @ ..] if option == "--minutes" => {
            let backends = backends.iter().map(|name| name.parse());
            let backends = backends.collect::<Result<_, _>>().expect("backends");
            (n.parse().expect("a number of minutes"), backends)
        }
        _ => panic!("usage: soak --minutes N [BACKEND...]"),
    };
    let backends = match backends.is_empty() {
        true => vec![Backend::C, Backend::Multicore, Backend::Cuda],
        false => backends,
    };
    let misuse = backends.contains(&Backend::Cuda).then(start_device);
    let libraries: &[_] = futhark_safe_fuzz::libraries(&backends).leak();
    let hardened: &[_] = futhark_safe_fuzz::hardened(&backends).leak();
    let seed = u64::from(fastrand::u32(..));
    println!("seed {seed}, {} MiB", resident_mib());
    // Not scoped threads: a failure ends the process while the others run.
    let user = |i| std::thread::spawn(move || soak(libraries, hardened, seed + i));
    // On Oclgrind even plain C computes wrong results on several threads.
    let threads = match backends.contains(&Backend::OpenCl) {
        true => 1,
        false => THREADS,
    };
    let users: Vec<_> = (0..threads).map(user).collect();
    let mut warm = 0;
    for n in 1..=minutes {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let failed = users.iter().any(|user| user.is_finished());
            assert!(!failed, "a user failed");
            std::thread::sleep(Duration::from_millis(100));
        }
        let [operations, lost] = [&user::OPERATIONS, &user::LOST].map(|n| n.load(Relaxed));
        let mib = resident_mib();
        println!("minute {n}: {operations} operations, {lost} contexts lost, {mib} MiB");
        // The warm-up is a tenth of the time, but one minute at least.
        if n <= minutes.div_ceil(10) {
            warm = mib.max(warm);
        }
        let grown = mib.saturating_sub(warm);
        // A sanitizer keeps what was freed.
        let is_bounded = grown <= MOST_GROWTH_MIB || std::env::var_os("ASAN_OPTIONS").is_some();
        assert!(is_bounded, "{grown} MiB more than {warm}");
    }
    STOP.store(true, Relaxed);
    for user in users {
        user.join().expect("a user failed");
    }
    let misuse = misuse.and_then(|file| std::fs::read_to_string(file).ok());
    let misuse = misuse.unwrap_or_default();
    assert!(misuse.is_empty(), "the emulated device reports {misuse}");
}

/// Compiles the emulated device and makes it the driver of cuda. Returns the file for its findings.
fn start_device() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../futhark-conformance/emulated");
    let folder = Path::new(env!("OUT_DIR")).join("soak");
    let (library, misuse) = (folder.join("emulated.so"), folder.join("misuse"));
    if !library.exists() {
        std::fs::create_dir_all(folder.join("kernels")).expect("a writable folder");
        let files = std::fs::read_dir(source.join("src")).expect("the sources of the device");
        let files = files.map(|file| file.expect("a file").path());
        let mut compiler = Command::new("c++");
        compiler.args("-std=c++17 -O2 -fPIC -fvisibility=hidden -shared -pthread".split(' '));
        compiler.args(files.filter(|file| file.extension().is_some_and(|end| end == "cpp")));
        let compiled = compiler.arg("-o").arg(&library).arg("-ldl").status();
        assert!(compiled.expect("c++ starts").success());
        // The device looks for the headers of kernels beside itself.
        symlink(source.join("device"), folder.join("device")).expect("a writable folder");
    }
    let _ = std::fs::remove_file(&misuse);
    let drivers = ["FUTHARK_LIBCUDA", "FUTHARK_LIBNVRTC", "FUTHARK_LIBCUDART"];
    let cache = ("FUTHARK_EMULATED_CACHE", folder.join("kernels"));
    let variables = drivers.map(|name| (name, library.clone())).into_iter();
    for (name, value) in variables.chain([cache, ("FUTHARK_EMULATED_FINDINGS", misuse.clone())]) {
        // SAFETY: there is no other thread yet.
        unsafe { std::env::set_var(name, value) };
    }
    misuse
}

fn soak(
    libraries: &'static [Vec<<Rust as Face>::Library>],
    hardened: &'static [Vec<<C as Face>::Library>],
    seed: u64,
) {
    let mut random = fastrand::Rng::with_seed(seed);
    while !STOP.load(Relaxed) {
        rounds::<Rust>(libraries, &mut random);
        rounds::<C>(hardened, &mut random);
    }
}

fn rounds<F: Face>(libraries: &'static [Vec<F::Library>], random: &mut fastrand::Rng) {
    let mut user = User::<F>::new(libraries);
    for _ in 0..ROUNDS {
        let operations: Vec<u8> = (0..ROUND * OP).map(|_| random.u8(..)).collect();
        user.run(&operations);
        if STOP.load(Relaxed) {
            break; // Oclgrind takes a minute for a round.
        }
    }
}

/// The resident memory of the process without mapped files.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let (_, size) = status.split_once("RssAnon:").expect("a size");
    let kib = size.split_whitespace().next().expect("a number");
    kib.parse::<u64>().expect("a number") / 1024
}
