#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Looks for the Debian packages that building, testing and the demo need, and prints the one
# apt-get command that installs those that are missing. Asks on a terminal; goes ahead as root or
# with CI=1; elsewhere names the packages and stops. Uses only what a bare Debian has.
#
#   make deps              or    scripts/deps.sh
#   scripts/deps.sh --list       the packages, one a line, whether installed or not
#   scripts/deps.sh NAME...      these too: prometheus-cpp-dev, for `make bench` only; or
#                                default-jdk-headless and maven, for the JVM shim
#
# Does not fetch the servers the tests talk to: that is fetch-servers.sh.
set -u

# package, and what needs it
packages='
gcc                   the compiler
g++                   the C++ tests and the benchmark
libc6-dev             the C library headers
binutils              ld; nm, readelf and objdump in the tests
make                  the build
pkg-config            the test of the installed library
libck-dev             libcrest: Concurrency Kit
libcurl4-openssl-dev  libcrest-reporters: HTTP
libmicrohttpd-dev     libcrest-reporters: the scrape endpoint
zlib1g-dev            libcrest-reporters: gzip
libcmocka-dev         the unit tests
openssl               the tests of TLS: a certificate
ca-certificates       the tests of TLS: whom a system trusts by default
libbenchmark-dev      make bench
liblmdb-dev           the example node: its block store
valgrind              the budget of instructions, in the tests
spin                  the tests of protocols: their models
python3               the test runner, the integration tests and the demo
python3-yaml          the tools: manifests of metrics
'

names() {
    printf '%s\n' "$packages" | awk 'NF { print $1 }'
}

if [ "${1:-}" = --list ]; then
    names
    exit 0
fi

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    echo "This is not a Debian system: nothing can be looked up or installed here." >&2
    echo "Needed are (Debian's names, and what needs them):" >&2
    printf '%s\n' "$packages" | sed '/^$/d; s/^/  /' >&2
    echo "With these in place, go on with: make DEPS=no ..." >&2
    exit 1
fi

# Prints the packages of the list that are not fully installed.
missing() {
    for name in $(names); do
        state=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null)
        [ "$state" = installed ] || printf '%s ' "$name"
    done
}

for name in "$@"; do
    # many have these from elsewhere than Debian
    case $name in
    nodejs) command -v node > /dev/null && continue ;;
    npm) command -v npm > /dev/null && continue ;;
    default-jdk-headless)
        [ -x "${JAVA_HOME:-/nowhere}/bin/javac" ] && continue
        command -v javac > /dev/null && continue
        ;;
    maven) command -v mvn > /dev/null && continue ;;
    esac
    packages="$packages$name  asked for
"
done

wanted=$(missing)
[ -n "$wanted" ] || exit 0

if [ "$(id -u)" = 0 ]; then as_root=; else as_root='sudo '; fi
echo "Missing packages. The command that installs them:"
echo
echo "    ${as_root}apt-get install --yes --no-install-recommends $wanted"
echo

if [ "$(id -u)" != 0 ]; then
    case "${CI:-}" in
    1 | true)
        as_root='sudo -n '
        ;;
    *)
        if [ ! -t 0 ] || [ ! -t 1 ]; then
            echo "Not installed: this is not a terminal, so nobody can agree to it. Run the" >&2
            echo "command above (it may need 'apt-get update' first), or set CI=1 to let this" >&2
            echo "script run it." >&2
            exit 1
        fi
        printf 'Run it now? [y/N] '
        read -r answer
        case "$answer" in
        y | Y | yes) ;;
        *)
            echo "Not installed." >&2
            exit 1
            ;;
        esac
        ;;
    esac
fi

# The package lists are worth a refresh when there are none or they are older than a day. The files
# themselves carry the mirror's date; the folder apt downloads into tells when it last did.
lists_are_stale() {
    [ -z "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' 2> /dev/null | head -n 1)" ] ||
        [ -z "$(find /var/lib/apt/lists/partial -maxdepth 0 -mtime -1 2> /dev/null)" ]
}

install() {
    # shellcheck disable=SC2086
    ${as_root}env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends -q $wanted < /dev/null
}

updated=no
if lists_are_stale; then
    ${as_root}apt-get update -q && updated=yes
fi
if ! install; then
    # Lists that are fresh by date may still name versions the mirror has replaced.
    [ "$updated" = no ] && ${as_root}apt-get update -q && install
fi

wanted=$(missing)
if [ -n "$wanted" ]; then
    echo "apt-get was run, and still missing: $wanted" >&2
    echo "Its messages above say why; the usual cause is a mirror that cannot be reached." >&2
    exit 1
fi
