# Unpacks Debian packages of any suite without root: apt with its own state under $work,
# so that neither the machine's package lists nor its packages change. Signatures are
# verified with Debian's own keyring.
# shellcheck shell=bash disable=SC2034,SC2154  # shared with ci/setup
# Expects: $work (scratch folder), because() (records why a part failed).

# Whether this is Debian, with the tools that this file and ci/setup need.
can_install_debian_packages() {
    [ -r /etc/os-release ] && (
        # shellcheck source=/dev/null
        . /etc/os-release
        [ "${ID:-}" = debian ]
    ) && have apt-get && have dpkg-deb && have flock
}

# Counted as installed: every Debian system with a C compiler has these libraries, perhaps in a newer
# version. The library parts must not contain another suite's build of them, because a process must
# not load two versions of the C or C++ standard library.
apt_base='libc6 libgcc-s1 libstdc++6 gcc-12-base zlib1g liblzma5 libtinfo6 libzstd1 dpkg'

# The mirrors in the machine's configuration, the most likely ones first. Other vendors'
# repositories are tried too, but their signatures are rejected.
apt_mirrors() {
    # shellcheck disable=SC2016  # apt's own placeholders
    apt-get indextargets --format '$(COMPONENT) $(RELEASE) $(SITE)' 2>/dev/null | awk '
        $1 == "main" && $2 !~ /-|\// && $3 !~ /^cdrom:/ && !seen[$3]++ {
            if ($3 ~ /\/debian\/?$/) print $3
            else later = later $3 "\n"
        }
        END { printf "%s", later }'
}

# apt_config DIR: the differences from the machine's configuration. Proxies and
# credentials stay as they are. Hooks are removed, because some clean the machine's
# own package cache after every update.
apt_config() {
    local dir=$1
    # In a word without quotes, apt decodes these.
    dir=${dir//%/%25} dir=${dir//\"/%22} dir=${dir//\'/%27} dir=${dir// /%20} dir=${dir//;/%3b}
    cat <<CONF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Invoke;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
#clear APT::Architectures;
#clear APT::Default-Release;
APT::Architectures { "$(dpkg --print-architecture)"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts $dir/sources;
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State $dir;
Dir::State::status $dir/status;
Dir::Cache $dir;
Dir::Cache::archives "archives";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "srcpkgcache.bin";
CONF
}

# apt_open SUITE [PACKAGE...]: fetches the index of a suite, once. The named packages
# count as installed.
apt_open() {
    local suite=$1 dir=$work/apt-$1 ring mirror package
    shift
    [ ! -e "$dir/ready" ] || return 0
    if [ -e "$dir/failed" ]; then
        because "$(cat "$dir/failed")"
        return 1
    fi
    mkdir -p "$dir"/{lists,archives}/partial "$dir/sources"
    apt_config "$dir" >"$dir/apt.conf"
    for package; do
        printf 'Package: %s\nStatus: install ok installed\nArchitecture: %s\nMulti-Arch: same\nVersion: 99:99\nDescription: base system\n\n' \
            "$package" "$(dpkg --print-architecture)"
    done >"$dir/status"
    for ring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp} ''; do
        if [ -r "$ring" ]; then break; fi
    done
    if [ -z "$ring" ]; then
        apt_fail "$dir" "Debian's keyring is missing (package debian-archive-keyring)"
        return 1
    fi
    for mirror in $(apt_mirrors); do
        printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nTargets: Packages\nSigned-By: %s\n' \
            "$mirror" "$suite" "$ring" >"$dir/sources/debian.sources"
        if apt-get -c "$dir/apt.conf" -q update 2>&1 | tee "$dir/update.log" &&
            compgen -G "$dir/lists/*_Packages*" >/dev/null; then
            touch "$dir/ready"
            return 0
        fi
    done
    if [ -e "$dir/update.log" ]; then
        apt_fail "$dir" "cannot get the package index of $suite: $(apt_complaint <"$dir/update.log")"
    else
        apt_fail "$dir" "the apt configuration of this machine has no Debian mirror"
    fi
    return 1
}

apt_fail() {
    printf '%s' "$2" >"$1/failed"
    because "$2"
}

# The first error of an apt log, or else its first warning, without addresses.
apt_complaint() {
    sed -nE '/^[EW]: /{s#[a-z+]+://[^ ]*##g; s/  +/ /g; p;}' | sort -s -k 1,1 | sed -nE '1s/^[EW]: *//p' | grep . ||
        echo 'apt gave no reason'
}

# apt_unpack SUITE PACKAGE...: downloads the packages with their dependencies and
# unpacks each into $work/apt-SUITE/unpacked/PACKAGE; prints those names. It runs in a command
# substitution, where bash disables `set -e`.
apt_unpack() {
    local suite=$1 dir=$work/apt-$1 package log=$work/apt-$1/install.log
    shift
    if ! apt-get -c "$dir/apt.conf" -qq -y --download-only install "$@" >"$log" 2>&1; then
        cat "$log" >&2
        because "cannot download $* from $suite: $(apt_complaint <"$log")"
        return 1
    fi
    if ! apt-get -c "$dir/apt.conf" -qq --simulate install "$@" | awk '/^Inst / { print $2 }' >"$dir/closure"; then
        because "cannot list the dependencies of $*"
        return 1
    fi
    while read -r package; do
        if [ ! -e "$dir/unpacked/$package" ]; then
            mkdir -p "$dir/unpacked" "$dir/unpacking"
            if ! dpkg-deb -x "$dir/archives/${package%%:*}"_*.deb "$dir/unpacking/$package"; then
                because "cannot unpack $package; is the disk full?"
                return 1
            fi
            mv "$dir/unpacking/$package" "$dir/unpacked/$package"
        fi
        printf '%s\n' "$package"
    done <"$dir/closure"
}

# apt_version SUITE PACKAGE: the version without epoch and Debian's revision.
apt_version() {
    dpkg-deb -f "$work/apt-$1/archives/$2"_*.deb Version | sed 's/^[0-9]*://; s/[-+~].*//'
}
