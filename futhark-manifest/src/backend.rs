//! The backends of the compiler that generate a C library and a manifest.

use std::fmt;
use std::str::FromStr;

/// A backend of the Futhark compiler that generates a C library.
///
/// The textual form is the compiler's subcommand, which is also the name in
/// the manifest: `futhark opencl --library` writes `"backend": "opencl"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// Sequential C.
    C,
    /// C with a thread pool.
    Multicore,
    /// A thread pool that runs kernels vectorised by ISPC.
    Ispc,
    /// OpenCL.
    OpenCl,
    /// CUDA, for NVIDIA devices.
    Cuda,
    /// HIP, for AMD devices.
    Hip,
    /// A backend that this version of the crate does not know.
    /// [`Program::backend_name`](crate::Program::backend_name) is its name. Nothing can be built for it.
    Other,
}

impl Backend {
    /// Every known backend, in the order of declaration.
    pub const ALL: &'static [Backend] = &[
        Backend::C,
        Backend::Multicore,
        Backend::Ispc,
        Backend::OpenCl,
        Backend::Cuda,
        Backend::Hip,
    ];

    /// The compiler's name for the backend.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Backend::C => "c",
            Backend::Multicore => "multicore",
            Backend::Ispc => "ispc",
            Backend::OpenCl => "opencl",
            Backend::Cuda => "cuda",
            Backend::Hip => "hip",
            Backend::Other => "other",
        }
    }

    /// Whether values live in the memory of a device, so that transfers are
    /// asynchronous, and raw arrays are device pointers or, on OpenCL, `cl_mem`
    /// handles. True for [`Other`](Backend::Other), since waiting for a transfer is never wrong.
    #[must_use]
    pub const fn is_gpu(self) -> bool {
        !matches!(self, Backend::C | Backend::Multicore | Backend::Ispc)
    }

    /// Whether a context has its own threads, whose number can be set.
    #[must_use]
    pub const fn has_threads(self) -> bool {
        matches!(self, Backend::Multicore | Backend::Ispc)
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        Backend::ALL
            .iter()
            .copied()
            .find(|backend| backend.as_str() == name)
            .ok_or_else(|| UnknownBackend(name.to_owned()))
    }
}

/// An unknown name of a backend; `Display` lists the known ones.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownBackend(String);

impl UnknownBackend {
    /// The unknown name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The known names as a list: `c, multicore or …`.
    pub(crate) fn known() -> String {
        let names: Vec<&str> = Backend::ALL.iter().map(|b| b.as_str()).collect();
        crate::text::alternatives(&names)
    }
}

impl fmt::Display for UnknownBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = UnknownBackend::known();
        write!(f, "unknown backend {:?}: expected {known}", self.0)
    }
}

/// Writes the text of `Display`, since `unwrap` and a failing `main` print this.
impl fmt::Debug for UnknownBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownBackend {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for &backend in Backend::ALL {
            assert_eq!(backend.as_str().parse(), Ok(backend));
            assert_eq!(backend.to_string(), backend.as_str());
        }
    }

    #[test]
    fn parse_error_lists_the_known_backends() {
        let error = "vulkan".parse::<Backend>().unwrap_err();
        assert_eq!(error.name(), "vulkan");
        let text = "unknown backend \"vulkan\": expected c, multicore, ispc, opencl, cuda or hip";
        assert_eq!(error.to_string(), text);
        assert_eq!(format!("{error:?}"), text, "what unwrap prints");
        assert!("C".parse::<Backend>().is_err(), "names are lower case");
        assert!("other".parse::<Backend>().is_err(), "not a name");
    }

    #[test]
    fn display_honours_the_width() {
        assert_eq!(format!("[{:>6}]", Backend::Hip), "[   hip]");
    }

    #[test]
    fn gpu_backends_are_distinguished() {
        let gpus: Vec<_> = Backend::ALL.iter().filter(|b| b.is_gpu()).collect();
        assert_eq!(gpus, [&Backend::OpenCl, &Backend::Cuda, &Backend::Hip]);
    }
}
