#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Looks for the Debian packages that building, testing and the demo need, and prints the one
# apt-get command that installs those that are missing. Asks on a terminal; goes ahead as root or
# with CI=1; elsewhere names the packages and stops. Uses only what a bare Debian has.
#
#   make deps              or    scripts/deps.sh
#   scripts/deps.sh PART...      what some parts need: build, demo, bench, coverage, or a suite of
#                                the tests, as `make check SUITES="checks unit"` asks for
#   scripts/deps.sh --list ...   the packages, one a line, whether installed or not
#
# Without a part it is all of them but bench and coverage. A JDK, Maven, Node.js and npm that are
# here from elsewhere than Debian are taken. Does not fetch the servers the tests talk to: that is
# fetch-servers.sh.
set -u

# package, the parts that need it, and what for; `tests` is each suite
packages='
gcc                   all                      the compiler
libc6-dev             all                      the C library headers
make                  all                      the build
libck-dev             all                      libcrest: Concurrency Kit
libcurl4-openssl-dev  all                      libcrest-reporters: HTTP
libmicrohttpd-dev     all                      libcrest-reporters: the scrape endpoint
zlib1g-dev            all                      libcrest-reporters: gzip
liblmdb-dev           tests,demo,bench         the example node: its block store
python3               tests,demo,bench         what runs the tests, the demo and the benchmark
g++                   tests,bench              the tests in C++, and the benchmark
libcmocka-dev         tests                    the tests in C
locales               unit                     what localedef makes a decimal comma of
binutils              checks                   nm, readelf and objdump
pkg-config            checks                   the installed library, as users find it
cmake                 checks                   the same
meson                 checks                   the same
musl-tools            checks                   the test of the core on musl
spin                  checks                   protocols: their models
valgrind              checks,bench             the budget of instructions
python3-yaml          checks,tools,integration manifests of metrics
python3-pyte          tools                    a terminal for crest top, whose screen is read
gnuplot-nox           tools,bench              charts of benchmark results
openssl               unit,integration         TLS: certificates
ca-certificates       unit,integration         TLS: whom a system trusts by default
iproute2              unit,integration         ss, whose figures are compared; links with a delay
protobuf-compiler     integration              reads protobuf pages
curl                  integration              reads from a gateway that wants certificates
nodejs                npm                      the server `statsd`
npm                   npm                      fetches that server
default-jdk-headless  jvm                      the JVM shim
maven                 jvm                      builds it, and fetches JUnit
gcovr                 coverage                 counts what the tests run
libbenchmark-dev      bench                    how the benchmark counts and times
prometheus-cpp-dev    bench                    what it compares with
'
suites='checks unit concurrency fuzz examples tools jvm integration npm'

list_only=no
if [ "${1:-}" = --list ]; then
    list_only=yes
    shift
fi
parts="$*"
[ -n "$parts" ] || parts="build demo $suites"
for part in $parts; do
    case " build demo bench coverage $suites " in
    *" $part "*) ;;
    *)
        echo "There is no part '$part'; there are: build demo bench coverage $suites" >&2
        exit 2
        ;;
    esac
    case " $suites " in
    *" $part "*) parts="$parts tests" ;;
    esac
done

# Prints the packages that the parts need.
names() {
    printf '%s\n' "$packages" | awk -v parts="all $parts" '
        BEGIN { count = split(parts, wanted, " ") }
        NF {
            for (i = 1; i <= count; i++)
                if (index("," $2 ",", "," wanted[i] ",")) {
                    print $1
                    next
                }
        }'
}

# Many have these from elsewhere than Debian.
from_elsewhere() {
    case $1 in
    nodejs) command -v node > /dev/null ;;
    npm | curl | cmake | meson) command -v "$1" > /dev/null ;;
    default-jdk-headless)
        [ -x "${JAVA_HOME:-/nowhere}/bin/javac" ] || command -v javac > /dev/null
        ;;
    maven) command -v mvn > /dev/null ;;
    gnuplot-nox) command -v gnuplot > /dev/null ;;
    *) false ;;
    esac
}

if [ "$list_only" = yes ]; then
    names
    exit 0
fi

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    echo "This is not a Debian system: nothing can be looked up or installed here." >&2
    echo "Needed are (Debian's names, which parts need them, and what for):" >&2
    printf '%s\n' "$packages" | sed '/^$/d; s/^/  /' >&2
    echo "With these in place, go on with: make DEPS=no ..." >&2
    exit 1
fi

# Prints the packages of the list that are not fully installed.
missing() {
    for name in $(names); do
        from_elsewhere "$name" && continue
        state=$(dpkg-query -W -f '${db:Status-Status}' "$name" 2> /dev/null)
        [ "$state" = installed ] || printf '%s ' "$name"
    done
}

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
            echo "Not installed: this is not a terminal, so no answer can be given. Run the" >&2
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

# In CI, where a machine that crashes is made anew, dpkg need not wait for the disk.
install() {
    unsafe=
    [ "${CI:-}" != 1 ] || unsafe='--option=Dpkg::Options::=--force-unsafe-io'
    # shellcheck disable=SC2086
    ${as_root}env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --no-install-recommends -q $unsafe $wanted < /dev/null
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
