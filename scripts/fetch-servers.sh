#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Fetches Prometheus, its Pushgateway and its node_exporter, nginx, collectd and InfluxDB, as Debian
# packages, and unpacks them below build/servers, and npm's statsd beside them where there is npm,
# for the integration tests and the demo. Nothing is installed, nothing is started, no root is
# needed. Does nothing when they are there already.
#
#   make servers           or    scripts/fetch-servers.sh
#                                scripts/fetch-servers.sh demo      Prometheus and its Pushgateway
#
# Afterwards: build/servers/root/usr/bin/{prometheus,promtool,prometheus-pushgateway,
# prometheus-node-exporter}, and links there to collectd, nginx and statsd, which
# lie elsewhere
set -u
cd "$(dirname "$0")/.." || exit 1

here=$(pwd)/build/servers
bin=$here/root/usr/bin
packages='prometheus prometheus-pushgateway prometheus-node-exporter collectd-core nginx
    python3-prometheus-client python3-decorator'
statsd=statsd@0.9.0 # npm's
# What their web pages show with; started with --web.local-assets, Prometheus finds it here.
pages='libjs-jquery libjs-bootstrap4 libjs-d3 libjs-eonasdan-bootstrap-datetimepicker
    libjs-jquery-hotkeys libjs-moment libjs-moment-timezone libjs-mustache libjs-popper.js
    libjs-rickshaw fonts-glyphicons-halflings'
programs='prometheus promtool prometheus-pushgateway prometheus-node-exporter collectd nginx'
if [ "${1:-}" = demo ]; then
    packages='prometheus prometheus-pushgateway'
    statsd=
    programs='prometheus promtool prometheus-pushgateway'
fi

# A strict parser of OpenMetrics, for the tests' PYTHONPATH.
python=$here/root/usr/lib/python3/dist-packages
parser=$python/prometheus_client/openmetrics/parser.py

# What apt-get has to fetch yet, each after a blank.
missing() {
    [ -z "$statsd" ] || { [ -r "$parser" ] && [ -r "$python/decorator.py" ]; } ||
        printf ' %s' "$parser"
    for program in $programs; do
        [ -x "$bin/$program" ] || printf ' %s' "$program"
    done
}

# npm's statsd is left out where there is no npm, which takes 360 packages: the tests that talk to
# it are skipped then.
[ -z "$statsd" ] || { command -v npm > /dev/null && command -v node > /dev/null; } || no_npm=yes
statsd_missing() {
    [ -n "$statsd" ] && [ -z "${no_npm:-}" ] && [ ! -x "$bin/statsd" ]
}

# Not every Debian has InfluxDB: its tests are skipped then.
influxd_missing() {
    [ -n "$statsd" ] && [ ! -x "$bin/influxd" ]
}

[ -n "$(missing)" ] || statsd_missing || influxd_missing || exit 0

give_up() {
    echo "The servers of the tests could not be fetched: $1" >&2
    echo "The tests and the demo that talk to them cannot run without. Either give this" >&2
    echo "machine a working apt mirror and run 'make servers', or put these programs into" >&2
    echo "build/servers/root/usr/bin yourself: $programs" >&2
    exit 1
}

# apt drops its rights to the user _apt when root runs it, and then complains that this folder is
# closed to it. There is nothing to protect here from packages we unpack anyway.
apt() {
    apt-get -q -o APT::Sandbox::User="$(id -un)" "$@" >> "$here/apt.log" 2>&1
}

# Package lists of our own, for a machine whose lists are missing or old: no root needed for them.
own_lists="-o Dir::State=$here/apt/state -o Dir::Cache=$here/apt/cache"

# shellcheck disable=SC2086
try_to_download() {
    apt download "$@" && return
    mkdir -p "$here/apt/state/lists/partial" "$here/apt/cache/archives/partial"
    apt $own_lists update
    apt $own_lists download "$@"
}

download() {
    try_to_download "$@" && return
    tail -n 15 "$here/apt.log" >&2
    give_up "'apt-get download $*' failed, with this machine's package lists and
with fresh ones. Its last words are above, all of them in build/servers/apt.log."
}

unpack() {
    for package in "$here"/packages/*.deb; do
        dpkg -x "$package" "$here/root" || give_up "'dpkg -x $package' failed."
    done
}

fetch_packages() {
    command -v apt-get > /dev/null && command -v dpkg > /dev/null ||
        give_up "there is no apt-get and dpkg on this system."
    mkdir -p "$here/packages" "$here/root" || give_up "$here cannot be written."
    cd "$here/packages" || give_up "$here cannot be entered."
    : > "$here/apt.log"
    echo "Fetching $packages with apt-get download into build/servers ..."
    # shellcheck disable=SC2086
    download $packages $pages
    unpack
    # In the package prometheus up to Debian 12, and one of its own from 13 on.
    if [ ! -x "$bin/promtool" ]; then
        download promtool
        unpack
    fi
    # 200 MB of time zones in sources that no page loads.
    rm -rf "$here/root/usr/share/javascript/moment-timezone/data"
    if [ -n "$statsd" ]; then
        ln -sf ../sbin/collectd "$bin/collectd"
        ln -sf ../sbin/nginx "$bin/nginx"
    fi
    [ -z "$(missing)" ] || give_up "the packages were unpacked, and not in them is:$(missing)"
    for program in $programs; do
        libraries=$(ldd "$bin/$program" 2>&1 | grep 'not found')
        [ -z "$libraries" ] ||
            give_up "$program needs libraries this machine lacks: $libraries"
    done
    rm -rf "$here/apt" "$here/packages"
    for program in prometheus prometheus-pushgateway; do
        "$bin/$program" --version 2>&1 | head -n 1
    done
}

fetch_statsd() {
    mkdir -p "$here/statsd" && cd "$here/statsd" || give_up "$here/statsd cannot be written."
    # Its one dependency that is needed comes along; nothing of it is run while it is installed.
    npm install --prefix "$here/statsd" --no-save --no-audit --no-fund --ignore-scripts \
        --omit=optional --omit=dev "$statsd" >> "$here/npm.log" 2>&1 || {
        tail -n 15 "$here/npm.log" >&2
        give_up "'npm install $statsd' failed. Its last words are above, all of them in
build/servers/npm.log."
    }
    ln -sf ../../../statsd/node_modules/statsd/bin/statsd "$bin/statsd"
}

fetch_influxdb() {
    mkdir -p "$here/packages" "$here/root" && cd "$here/packages" ||
        give_up "$here cannot be written."
    if try_to_download influxdb; then
        unpack
    fi
    [ -x "$bin/influxd" ] || echo "There is no InfluxDB to be had: its tests are skipped." >&2
    rm -rf "$here/apt" "$here/packages"
}

[ -z "$(missing)" ] || fetch_packages
! influxd_missing || fetch_influxdb
! statsd_missing || fetch_statsd
