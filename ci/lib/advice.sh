# Prints manual installation steps for parts that ci/setup could not install.
# shellcheck shell=bash

# Whether this is Debian, with the tools that lib/apt.sh and ci/setup need.
can_install_debian_packages() {
    [ -r /etc/os-release ] && (
        # shellcheck source=/dev/null
        . /etc/os-release
        [ "${ID:-}" = debian ]
    ) && have apt-get && have dpkg-deb && have flock
}

# advise PART...: one paragraph per missing part.
advise() {
    local part compiler_listed=
    for part; do
        case $part in
        futhark-*)
            if [ -z "$compiler_listed" ]; then
                compiler_listed=yes
                cat <<'TEXT'
  Futhark compiler   any of: the compiler's own releases (see futhark-lang.org), `nix-env -iA nixpkgs.futhark`,
                     `brew install futhark`, `apt-get install futhark` on Debian 13. Put it on PATH, or set FUTHARK.
TEXT
            fi
            ;;
        opencl)
            cat <<'TEXT'
  OpenCL             headers and a loader (Debian, Ubuntu: opencl-headers ocl-icd-opencl-dev; Fedora: opencl-headers
                     ocl-icd-devel; macOS has both), and a driver: the one of your GPU, or Oclgrind (oclgrind).
TEXT
            ;;
        pocl)
            cat <<'TEXT'
  PoCL               a second OpenCL device besides Oclgrind, not required. If it is installed as a system package (Debian, Ubuntu:
                     pocl-opencl-icd; Fedora: pocl), set OCL_ICD_VENDORS=/etc/OpenCL/vendors to use it.
TEXT
            ;;
        cuda)
            cat <<'TEXT'
  CUDA               the toolkit, version 12 or 13, from its vendor; set CUDA_HOME.
                     Its headers and NVRTC are also pip packages: see cuda_packages in ci/lib/parts.sh.
TEXT
            ;;
        cuda13)
            cat <<'TEXT'
  CUDA 13            headers only, for one test; pip packages: see cuda13_packages in ci/lib/parts.sh.
TEXT
            ;;
        hip)
            cat <<'TEXT'
  HIP                ROCm from its vendor, or your system's package (Debian, Ubuntu: libamdhip64-dev; Fedora: rocm-hip-devel).
TEXT
            ;;
        nvrtc)
            cat <<'TEXT'
  NVRTC              the newest NVRTC of CUDA 12; also a pip package: see nvrtc_packages in ci/lib/parts.sh.
TEXT
            ;;
        ispc-*)
            cat <<'TEXT'
  ISPC               your system's package, in the version for your Futhark compiler (0.25.27: 1.26, 0.25.32: 1.28).
TEXT
            ;;
        llvm)
            cat <<'TEXT'
  libclang           your system's package (Debian, Ubuntu: libclang-dev; Fedora: clang-libs; Homebrew: llvm);
                     set LIBCLANG_PATH to its folder. Needed by the feature `raw` and to regenerate bindings.
TEXT
            ;;
        esac
    done
}
