# Writes the files in the prefix that belong to no part: records, bin/futhark, env.sh.
# shellcheck shell=bash disable=SC2154  # shared with ci/setup
# Expects: $prefix, and lib/parts.sh.

# record PART VERSION: records that the part is complete. Runs last, so that an
# interrupted part has no record and is installed again.
record() {
    mkdir -p "$prefix/.state"
    printf '%s\n%s\n' "$(part_recipe "$1")" "$2" >"$work/$1.state"
    mv "$work/$1.state" "$prefix/.state/$1"
}

# recorded PART: prints the version, and succeeds if the part is complete.
recorded() {
    local recipe version
    [ -r "$prefix/.state/$1" ] || return 1
    { read -r recipe && read -r version; } <"$prefix/.state/$1" || return 1
    [ "$recipe" = "$(part_recipe "$1")" ] && [ -d "$prefix/$(part_folder "$1" "$version")" ] || return 1
    printf '%s' "$version"
}

# The versions of the compilers in the prefix, oldest first.
private_versions() {
    local file
    for file in "$prefix"/bin/futhark-[0-9]*; do
        [ ! -x "$file" ] || printf '%s\n' "${file##*/futhark-}"
    done | sort -V
}

# Points bin/futhark at the newest compiler.
link_newest() {
    local newest
    newest=$(private_versions | tail -1)
    if [ -n "$newest" ] && [ "$(readlink "$prefix/bin/futhark" 2>/dev/null)" != "futhark-$newest" ]; then
        ln -sf "futhark-$newest" "$prefix/bin/futhark"
    fi
}

# env.sh looks for the parts when it is sourced, so it stays correct for parts that are installed later.
write_env() {
    env_text >"$prefix/env.sh.new"
    mv "$prefix/env.sh.new" "$prefix/env.sh"
}

env_text() {
    # A quote in the path must not end the string that holds it.
    local quoted=${prefix//\'/\'\\\'\'}
    printf "%s\n" '# Source this file (sh, bash). Written by ci/setup. Sets variables for installed parts, unless they are set.' '# shellcheck shell=sh'
    printf "futhark_home='%s'\n" "$quoted"
    cat <<'ENV'
# Only in bash, a sourced file knows its path; the folder may have been moved.
# shellcheck disable=SC3028,SC3054,SC2128
if [ -n "${BASH_SOURCE:-}" ] && [ -d "$(dirname -- "$BASH_SOURCE")/.state" ]; then
    futhark_home=$(cd -- "$(dirname -- "$BASH_SOURCE")" && pwd)
fi

: "${FUTHARK_TOOLCHAIN:=$futhark_home}"
export FUTHARK_TOOLCHAIN

# Appended, so that a compiler that is already on PATH takes precedence.
case ":$PATH:" in
*":$futhark_home/bin:"*) ;;
*) [ ! -d "$futhark_home/bin" ] || export PATH="$PATH:$futhark_home/bin" ;;
esac

if [ -e "$futhark_home/opencl/lib/libOpenCL.so.1" ]; then
    : "${OCL_ICD_VENDORS:=$futhark_home/opencl/lib/liboclgrind-rt-icd.so}"
    : "${FUTHARK_LIBOPENCL:=$futhark_home/opencl/lib/libOpenCL.so.1}"
    export OCL_ICD_VENDORS FUTHARK_LIBOPENCL
fi

if [ -d "$futhark_home/cuda/include" ]; then
    : "${CUDA_HOME:=$futhark_home/cuda}"
    export CUDA_HOME
fi

if [ -e "$futhark_home/llvm/lib/libclang.so" ]; then
    if [ -z "${LIBCLANG_PATH:-}" ]; then
        # This libclang comes without the clang program, from which bindgen would get the
        # path of stddef.h and other builtin headers.
        # bindgen splits the arguments as a shell does.
        futhark_args="'-resource-dir=$(printf '%s' "$futhark_home" | sed "s/'/'\\\\''/g")/llvm/resource'"
        export BINDGEN_EXTRA_CLANG_ARGS="${BINDGEN_EXTRA_CLANG_ARGS:-$futhark_args}"
        export LIBCLANG_PATH="$futhark_home/llvm/lib"
        unset futhark_args
    fi
fi
unset futhark_home
ENV
}
