#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Keeps recording as cheap as it is said to be: compiles functions that only record, as users do,
# and looks at the machine code. For each function it searches the shortest way from the entry to
# a return that neither calls nor leaves the function: that is the hot path, and it must exist,
# stay within its number of instructions, and write what it should with unlocked additions to
# memory; a range sampler, which all threads share, with one locked instruction. What is called
# anywhere else must be one of the library's cold paths.
#
# It knows the instructions of x86-64; elsewhere it is skipped.
set -u

root=${CREST_ROOT:-$(dirname "$0")/../..}
case $(uname -m) in
x86_64 | amd64) ;;
*)
    echo "the machine code of $(uname -m) is not known here, only that of x86-64"
    exit 77
    ;;
esac
if ! command -v objdump > /dev/null; then
    echo "objdump is missing (Debian: binutils)"
    exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/crest-hotpath.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

cat > "$work/hot.c" << 'EOF'
#include <crest/crest.h>

CREST_COUNTER(counter, "hot.counter", "A counter.");
CREST_GAUGE(gauge, "hot.gauge", "A gauge.");
CREST_HISTOGRAM(histogram, "hot.histogram", "A histogram.");
CREST_TIMER(timer, "hot.timer", "A timer.");
CREST_RANGE_SAMPLER(sampler, "hot.sampler", "A range sampler.");

void hot_counter_inc(void);
void hot_counter_inc_through(crest_counter *handle);
void hot_counter_add_constant(void);
void hot_counter_add(int64_t amount);
void hot_gauge_set(double value);
void hot_histogram_record(int64_t value);
void hot_timer_record(int64_t ns);
void hot_timer_start_end(uint64_t id);
void hot_range_sampler_add(int64_t delta);
void hot_range_sampler_set(int64_t value);

void hot_counter_inc(void)
{
    crest_counter_inc(&counter);
}

void hot_counter_inc_through(crest_counter *handle)
{
    crest_counter_inc(handle);
}

void hot_counter_add_constant(void)
{
    crest_counter_add(&counter, 5);
}

void hot_counter_add(int64_t amount)
{
    crest_counter_add(&counter, amount);
}

void hot_gauge_set(double value)
{
    crest_gauge_set(&gauge, value);
}

void hot_histogram_record(int64_t value)
{
    crest_histogram_record(&histogram, value);
}

void hot_timer_record(int64_t ns)
{
    crest_timer_record(&timer, ns, CREST_OUTCOME_OK);
}

void hot_timer_start_end(uint64_t id)
{
    crest_op op = crest_op_u64(id);
    crest_timing timing = crest_timer_start(&timer, op);
    crest_timing_end(&timing, op, CREST_OUTCOME_OK);
}

void hot_range_sampler_add(int64_t delta)
{
    crest_range_sampler_add(&sampler, delta);
}

void hot_range_sampler_set(int64_t value)
{
    crest_range_sampler_set(&sampler, value);
}
EOF

# The same by crest.hpp, which must cost what the C calls cost.
cat > "$work/hot.cc" << 'EOF'
#include <crest/crest.hpp>

static crest::counter counter{"hot.counter", "A counter."};
static crest::gauge gauge{"hot.gauge", "A gauge."};
static crest::histogram histogram{"hot.histogram", "A histogram."};
static crest::timer timer{"hot.timer", "A timer."};
static crest::range_sampler sampler{"hot.sampler", "A range sampler."};

extern "C" {
void hot_counter_inc() { counter.inc(); }
void hot_counter_inc_through(crest_counter *handle) { crest::counter_ref{*handle}.inc(); }
void hot_counter_add_constant() { counter.add(5); }
void hot_counter_add(int64_t amount) { counter.add(amount); }
void hot_gauge_set(double value) { gauge.set(value); }
void hot_histogram_record(int64_t value) { histogram.record(value); }
void hot_timer_record(int64_t ns) { timer.record(std::chrono::nanoseconds(ns)); }
void hot_timer_start_end(uint64_t id)
{
    crest::timing timing = timer.start(crest::op(id));
    timing.end(crest::op(id));
}
void hot_range_sampler_add(int64_t delta) { sampler.add(delta); }
void hot_range_sampler_set(int64_t value) { sampler.set(value); }
}
EOF

# function, instructions of its hot path at most (the return included), additions to memory on it,
# other writes to memory on it (the stack not counted), 1 if it needs the thread's cells, locked
# instructions on it (none elsewhere in the function if none here)
cat > "$work/expected" << 'EOF'
hot_counter_inc           12 1 0 1
hot_counter_inc_through   12 1 0 1
hot_counter_add_constant  12 1 0 1
hot_counter_add           18 1 0 1
hot_gauge_set              10 0 1 0
hot_histogram_record      31 2 0 1
hot_timer_record          31 2 0 1
hot_timer_start_end       61 2 0 1
hot_range_sampler_add     42 0 1 0 1
hot_range_sampler_set     42 0 1 0 1
EOF

# Reads what is expected and objdump's listing, and prints a line "ok" or lines "FAIL" for each
# function, the latter with the hot path they are about.
cat > "$work/judge.awk" << 'EOF'
FILENAME == expected {
    order[++functions] = $1
    most[$1] = $2
    adds[$1] = $3
    writes[$1] = $4
    cells[$1] = $5
    locks[$1] = $6 + 0
    next
}

/^[0-9a-f]+ <.*>:$/ {
    name = $2
    gsub(/[<>:]/, "", name)
    next
}

# a relocation belongs to the instruction above it
/^[ \t]+[0-9a-f]+: R_X86_64_/ {
    relocation[name, length_of[name]] = $2 " " $3
    next
}

/^ *[0-9a-f]+:\t/ {
    address = $1
    sub(/:$/, "", address)
    text = $0
    sub(/^ *[0-9a-f]+:\t/, "", text)
    sub(/ *#.*/, "", text)
    sub(/ +$/, "", text)
    i = ++length_of[name]
    code[name, i] = text
    at[name, address] = i
}

function fail(what)
{
    print "FAIL " name ": " what
    failed = 1
}

# The word of an instruction without what binds it; `lock addq` gives lock.
function word(i,   parts)
{
    split(code[name, i], parts, /[ \t]+/)
    return parts[1] == "bnd" || parts[1] == "notrack" ? parts[2] : parts[1]
}

# Where a jump leads inside the function; 0: elsewhere.
function target(i,   parts, n)
{
    if ((name, i) in relocation)
        return 0
    n = split(code[name, i], parts, /[ \t]+/)
    return n < 2 ? 0 : at[name, parts[2]]
}

function visit(from, to)
{
    if (to < 1 || to > length_of[name] || (to in before))
        return
    before[to] = from
    queue[++queued] = to
}

# Breadth first: the first return that is found ends the shortest way. Fills path[1..steps].
function find_path(   head, i, w, way)
{
    split("", before)
    split("", path)
    queued = steps = 0
    visit(0, 1)
    for (head = 1; head <= queued; head++) {
        i = queue[head]
        w = word(i)
        if (w ~ /^ret/ || (w == "repz" && code[name, i] ~ /ret/)) {
            for (way = i; way != 0; way = before[way])
                steps++
            way = i
            for (w = steps; w > 0; w--) {
                path[w] = way
                way = before[way]
            }
            return
        }
        if (w ~ /^call/)
            continue
        if (w ~ /^j/)
            visit(i, target(i))
        if (w !~ /^jmp/)
            visit(i, i + 1)
    }
}

# The operand written to: the last one, in AT&T's order.
function writes_memory(text,   operands)
{
    if (text ~ /^(cmp|test|ucomis|comis|bt|nop|push|call|j|lea|prefetch|i?mulq? |i?div)/)
        return 0
    operands = text
    sub(/^[a-z0-9]+ */, "", operands)
    return operands ~ /\)$/ && operands !~ /^[^,]*\(%rip\)$/ && operands !~ /\(%rsp\)$/
}

function judge(   i, w, found_adds, found_writes, found_locks, text, symbol, thread)
{
    for (i = 1; i <= length_of[name]; i++) {
        text = code[name, i]
        w = word(i)
        if ((w == "lock" && !locks[name]) || (w ~ /^xchg/ && text ~ /\(/) || w ~ /fence$/)
            fail("a locked instruction or a fence: " text)
        symbol = (name, i) in relocation ? relocation[name, i] : ""
        if (symbol ~ /TLSGD|TLSLD|TLSDESC|tls_get_addr/)
            fail("thread-local access that is not initial-exec: " symbol)
        thread += symbol ~ /GOTTPOFF[ \t]+crest_thread_cells/
        if ((w ~ /^call/ || (w ~ /^j/ && target(i) == 0)) &&
            symbol !~ /crest_[a-z_]*(_slow|_refuse)[-+]/ && symbol !~ /text\.unlikely/)
            fail("leads to what is no cold path: " text " " symbol)
    }
    if (name ~ /\.cold/)
        return
    if (cells[name] && thread == 0)
        fail("does not reach crest_thread_cells by the initial-exec model")
    find_path()
    if (steps == 0) {
        fail("no way to a return without a call")
        return
    }
    for (i = 1; i <= steps; i++) {
        text = code[name, path[i]]
        found_locks += word(path[i]) == "lock"
        if (text ~ /^(x?add|inc)[lq]? /&& text ~ /\)$/)
            found_adds++
        else if (writes_memory(text))
            found_writes++
    }
    if (steps > most[name])
        fail(steps " instructions on the hot path, at most " most[name] " are expected")
    if (found_adds + 0 != adds[name])
        fail(found_adds + 0 " additions to memory on the hot path, expected are " adds[name])
    if (found_writes + 0 != writes[name])
        fail(found_writes + 0 " other writes to memory on the hot path, expected are " writes[name])
    if (found_locks + 0 != locks[name])
        fail(found_locks + 0 " locked instructions on the hot path, expected are " locks[name] + 0)
    summary = steps " instructions of at most " most[name]
}

END {
    for (name in length_of)
        if (name ~ /\.cold/)
            judge()
    for (f = 1; f <= functions; f++) {
        name = order[f]
        failed = steps = 0
        if (name in length_of)
            judge()
        else
            fail("is not in the listing")
        if (!failed)
            print "ok   " name ": " summary
        for (i = 1; failed && i <= steps; i++)
            print "       " code[name, path[i]]
    }
}
EOF

passed=0
failed=0
check() { # source, its language, compiler, further flags
    source=$1
    language=$2
    shift 2
    "$@" -std="$language" -O2 -w -I"$root/include" -c "$work/$source" -o "$work/hot.o" || {
        echo "FAIL $*: does not compile"
        failed=$((failed + 1))
        return
    }
    objdump -dr --no-show-raw-insn "$work/hot.o" > "$work/listing"
    awk -v expected="$work/expected" -f "$work/judge.awk" "$work/expected" \
        "$work/listing" > "$work/found"
    sed "s#^\(ok  \|FAIL\) #\1 $* $language: #" "$work/found"
    passed=$((passed + $(grep -c '^ok ' "$work/found")))
    failed=$((failed + $(grep -c '^FAIL ' "$work/found")))
}

tried=
for compiler in "${CC:-gcc}" gcc clang "${CXX:-g++}" g++ clang++; do
    first=${compiler%% *}
    case " $tried " in *" ${first##*/} "*) continue ;; esac
    command -v "$first" > /dev/null || continue
    # a C++ compiler without a C++ library is there on some machines
    case ${first##*/} in
    *++*)
        echo '#include <string>' | $compiler -x c++ -fsyntax-only - 2> /dev/null || continue
        source=hot.cc language=gnu++17
        ;;
    *) source=hot.c language=gnu11 ;;
    esac
    tried="$tried ${first##*/}"
    # shellcheck disable=SC2086 # CC may hold flags
    check $source $language $compiler
    # shellcheck disable=SC2086
    check $source $language $compiler -fPIC
done

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
