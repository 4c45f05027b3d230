/* SPDX-License-Identifier: Apache-2.0 */
/* <crest/crest.hpp>: each class against what the C calls then say; copies, moves, exceptions. */
#include <crest/crest.hpp>

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

extern "C" {
#include <cmocka.h>
}

using namespace std::chrono_literals;

static crest::counter events{"hpp.events", "A counter."};
static crest::gauge level{"hpp.level", "A gauge."};
static crest::histogram sizes{"hpp.size", "A histogram.", crest::options{}.unit(CREST_BYTES)};
static crest::range_sampler waiting{"hpp.waiting", "A range sampler."};
static crest::timer stores{"hpp.store-time", "A timer.",
                           crest::options{}.deadline(30s).buckets(crest_buckets_fast)};
static crest::stages consensus{"hpp.consensus", "Stages.",
                               crest::options{}.stages("0", "1/3", "1").deadline(60s)};
static crest::counter_family sent{"hpp.sent", "A family.", crest::keys{"kind", "peer"}};
static crest::gauge_family levels{"hpp.levels", "A family.", crest::keys{"of"}};
static crest::histogram_family sizes_of{"hpp.sizes-of", "A family.", crest::keys{"of"},
                                        crest::options{}.unit(CREST_BYTES)};
static crest::range_sampler_family links{"hpp.links", "A family.", crest::keys{"peer"}};
static crest::timer_family pings{"hpp.ping-time", "A family.", crest::keys{"peer"}};
static crest::stages_family replays{"hpp.replay", "A family.", crest::keys{"peer"},
                                    crest::options{}.stages("begun", "done")};
static crest::span_key peer_key{"peer"};
CREST_COUNTER(declared_in_c, "hpp.in-c", "Declared as in C.");

/* What the page of docs/cpp.md says of copies and moves. */
template <class type>
constexpr bool pinned =
    !std::is_copy_constructible_v<type> && !std::is_move_constructible_v<type> &&
    !std::is_copy_assignable_v<type> && !std::is_move_assignable_v<type>;
static_assert(pinned<crest::counter> && pinned<crest::timer> && pinned<crest::stages> &&
              pinned<crest::counter_family<2>> && pinned<crest::scope> && pinned<crest::span> &&
              pinned<crest::span_key>);
static_assert(std::is_trivially_destructible_v<crest::counter> &&
              std::is_trivially_destructible_v<crest::timer_family<1>>);
static_assert(std::is_trivially_copyable_v<crest::counter_ref> &&
              sizeof(crest::counter_ref) == sizeof(void *));
static_assert(!std::is_copy_constructible_v<crest::timing> &&
              std::is_nothrow_move_constructible_v<crest::timing> &&
              !std::is_copy_constructible_v<crest::runtime> &&
              std::is_nothrow_move_constructible_v<crest::runtime> &&
              std::is_nothrow_move_assignable_v<crest::registry>);
static_assert(!std::is_default_constructible_v<crest::counter_ref>);

struct value {
    crest_kind kind;
    uint64_t count, sum;
};

static value value_of(const char *name, std::vector<const char *> values = {},
                      crest_registry *registry = nullptr)
{
    crest_snapshot *snapshot = crest_snapshot_take(registry);
    crest_series_view view;
    assert_non_null(snapshot);
    assert_int_equal(crest_snapshot_find(snapshot, name, values.data(),
                                         static_cast<unsigned>(values.size()), &view),
                     CREST_OK);
    value found = {view.kind, view.counter, 0};
    if (view.distribution != nullptr)
        found = {view.kind, crest_distribution_count(view.distribution),
                 crest_distribution_sum(view.distribution)};
    crest_snapshot_free(snapshot);
    return found;
}

static void test_metrics(void **)
{
    assert_int_equal(value_of("hpp.events").count, 0); /* there before the first record */
    events.inc();
    events.add(4);
    assert_int_equal(events.value(), 5);
    assert_int_equal(crest_counter_value(events.c_ptr()), 5);
    level.set(-2.5);
    level.add(1);
    assert_true(level.value() == -1.5);
    sizes.record(100);
    sizes.record(50, 3);
    assert_int_equal(value_of("hpp.size").count, 4);
    assert_int_equal(value_of("hpp.size").sum, 250);
    waiting.set(7);
    waiting.add(-3);
    assert_int_equal(waiting.value(), 4);
    stores.record(5ms);
    stores.record(2us, CREST_OUTCOME_TIMEOUT);
    assert_int_equal(value_of("hpp.store-time", {"ok"}).sum, 5000000);
    assert_int_equal(value_of("hpp.store-time", {"timeout"}).sum, 2000);
    level.set_to_now();
    assert_true(level.value() > 1.6e9);
}

static void test_references(void **)
{
    crest::counter_ref same = events, as_in_c{declared_in_c};
    crest::counter_ref copy = as_in_c;
    uint64_t before = events.value();
    same.inc();
    as_in_c.inc();
    copy.inc();
    assert_int_equal(events.value(), before + 1);
    assert_int_equal(crest_counter_value(&declared_in_c), 2);

    std::string text = "hpp.found-and-more";
    std::string_view name = std::string_view(text).substr(0, 9); /* no NUL behind it */
    crest_status status = CREST_LIMIT;
    auto found = crest::counter_ref::get(name, "Found.", crest::options(), &status);
    assert_int_equal(status, CREST_OK);
    found.add(3);
    crest::counter_ref::get("hpp.found").inc();
    assert_int_equal(value_of("hpp.found").count, 4);
    auto other = crest::timer_ref::get("hpp.found", "Of another kind.", {}, &status);
    assert_int_equal(status, CREST_TYPE_CLASH);
    other.record(1s); /* into nothing */
    crest::counter_ref::get(std::string(CREST_NAME_BYTES_MAX + 1, 'a'), {}, {}, &status);
    assert_int_equal(status, CREST_INVALID_NAME);
    crest::counter_ref::get(std::string(CREST_NAME_BYTES_MAX, 'a'), {}, {}, &status);
    assert_int_equal(status, CREST_OK);
}

static void test_families(void **)
{
    std::string text = "ping and more";
    const char *peer = "10.0.0.7";
    sent.with(std::string_view(text).substr(0, 4), peer).inc();
    sent.with("ping", std::string("10.0.0.7")).add(2);
    sent.with("port", 8080u).inc();
    sent.with("least", INT64_MIN).inc();
    assert_int_equal(value_of("hpp.sent", {"ping", "10.0.0.7"}).count, 3);
    assert_int_equal(value_of("hpp.sent", {"port", "8080"}).count, 1);
    assert_int_equal(value_of("hpp.sent", {"least", "-9223372036854775808"}).count, 1);
    std::string longest(CREST_LABEL_VALUE_BYTES_MAX, 'x');
    sent.with(std::string_view(longest + "yz"), "").inc(); /* cut, and counted */
    assert_int_equal(value_of("hpp.sent", {longest.c_str(), ""}).count, 1);
    levels.with("a").set(3);
    assert_true(levels.with("a").value() == 3);
    sizes_of.with("a").record(9);
    assert_int_equal(value_of("hpp.sizes-of", {"a"}).sum, 9);
    links.with("a").add(6);
    assert_int_equal(links.with("a").value(), 6);
    pings.with(peer).record(40ns);
    assert_int_equal(value_of("hpp.ping-time", {"10.0.0.7", "ok"}).sum, 40);
    assert_int_equal(replays.with("a").begin(crest::op(1)), CREST_OK);
    assert_int_equal(replays.with("a").end(crest::op(1)), CREST_OK);
}

static void test_operations(void **)
{
    crest_op text = crest_op_text("block"), number = crest_op_u64(7);
    std::string more = "block and more";
    crest_op cut = crest::op(std::string_view(more).substr(0, 5)), same = crest::op(7);
    crest_op nothing = crest::op(""), ends = crest::op(std::string_view("block\0x", 7));
    assert_true(crest_op_equal(&cut, &text) && crest_op_equal(&same, &number));
    assert_true(crest_op_equal(&ends, &text));
    assert_int_equal(nothing.kind, CREST_OP_NONE);
    std::string longer(100, 'b');
    crest_op hashed = crest::op(longer), as_c = crest_op_text(longer.c_str());
    assert_true(crest_op_equal(&hashed, &as_c));

    assert_int_equal(stores.begin(same), CREST_OK);
    assert_int_equal(stores.begin(crest::op(8), crest::op("owner")), CREST_OK);
    assert_int_equal(stores.in_flight().count, 2);
    assert_int_equal(stores.end(same, CREST_OUTCOME_CANCELLED), CREST_OK);
    assert_int_equal(stores.end(same), CREST_NOT_FOUND);
    assert_int_equal(crest_owner_end(crest::op("owner"), CREST_OUTCOME_CANCELLED), 1);
    assert_int_equal(value_of("hpp.store-time", {"cancelled"}).count, 2);
    assert_int_equal(consensus.begin(text), CREST_OK);
    assert_int_equal(consensus.in_flight().count, 1);
    assert_int_equal(consensus.mark(text, 2), CREST_OK);
    assert_int_equal(consensus.mark(text, 3), CREST_INVALID_ARGUMENT);
    assert_int_equal(consensus.end(text), CREST_OK);
}

static void test_timing(void **)
{
    uint64_t before = value_of("hpp.store-time", {"error"}).count;
    crest_op id = crest::op("a");
    crest::timing first = stores.start(id), empty;
    assert_false(empty.running());
    assert_int_equal(empty.end(id), CREST_NOT_RUNNING);
    crest::timing second = std::move(first);
    assert_false(first.running());
    empty = std::move(second);
    assert_true(empty.running() && !second.running());
    assert_int_equal(empty.end(crest::op("b")), CREST_MISMATCH);
    assert_int_equal(empty.end(id, CREST_OUTCOME_ERROR), CREST_OK);
    assert_int_equal(empty.end(id), CREST_NOT_RUNNING);
    crest::timing late = stores.start(crest_op_none());
    assert_int_equal(late.bind(id), CREST_OK);
    assert_int_equal(late.end_in(id, CREST_OUTCOME_OK, *pings.with("in").c_ptr()), CREST_OK);
    assert_int_equal(value_of("hpp.ping-time", {"in", "ok"}).count, 1);
    {
        crest::timing dropped = stores.start(id);
        assert_true(dropped.running());
    }
    assert_int_equal(value_of("hpp.store-time", {"error"}).count, before + 1);
}

static uint64_t scopes(const char *outcome)
{
    return value_of("hpp.ping-time", {"scope", outcome}).count;
}

/* Its scope ends while an exception flies that does not leave its block. */
struct cleans_up {
    ~cleans_up() { crest::scope timed{pings.with("scope")}; }
};

static void test_scopes(void **)
{
    {
        crest::scope timed{pings.with("scope"), crest::op(1)};
    }
    assert_int_equal(scopes("ok"), 1);
    {
        crest::scope timed{pings.with("scope")};
        timed.outcome(CREST_OUTCOME_TIMEOUT);
    }
    assert_int_equal(scopes("timeout"), 1);
    for (bool says : {false, true}) {
        try {
            crest::scope timed{pings.with("scope")};
            if (says)
                timed.outcome(CREST_OUTCOME_CANCELLED);
            throw std::runtime_error("thrown");
        } catch (const std::runtime_error &) {
        }
    }
    assert_int_equal(scopes("error"), 1);
    assert_int_equal(scopes("cancelled"), 1);
    try {
        cleans_up object;
        throw std::runtime_error("thrown");
    } catch (const std::runtime_error &) {
    }
    assert_int_equal(scopes("ok"), 2);

    int number = 5;
    int &same = crest::time(pings.with("scope"), crest::op(2), [&]() -> int & { return number; });
    assert_ptr_equal(&same, &number);
    crest::time(pings.with("scope"), crest::op(3), [] {});
    assert_int_equal(scopes("ok"), 4);
    try {
        crest::time(pings.with("scope"), crest::op(4), [] { throw 1; });
        fail_msg("what it throws does not pass");
    } catch (int) {
    }
    assert_int_equal(scopes("error"), 2);
}

struct taken {
    std::string text;
    int attributes = 0, events = 0, spans = 0;
    crest_span_id parent = 0, child_of = 0;
};

static crest_status take(crest_span_exporter *self, const crest_span_batch *batch, crest_error *)
{
    taken &all = *static_cast<taken *>(self->state);
    for (size_t i = 0; i < batch->count; i++) {
        const crest_span &one = batch->spans[i];
        all.spans++;
        if (one.parent != 0) { /* its one attribute is the label of its series */
            assert_int_equal(one.attribute_count, 1);
            assert_string_equal(one.attributes[0].value.s, "span");
            all.child_of = one.parent;
            continue;
        }
        all.parent = one.id;
        all.attributes = static_cast<int>(one.attribute_count);
        all.events = static_cast<int>(one.event_count);
        all.text = std::string(one.attributes[3].value.s) + one.status_message;
    }
    return CREST_OK;
}

static void test_spans(void **)
{
    taken all;
    crest_span_exporter exporter{};
    exporter.name = "test";
    exporter.take = take;
    exporter.state = &all;
    { /* not traced: a scope, and the setters do nothing */
        crest::span quiet{stores, crest::op(1)};
        assert_int_equal(quiet.set(peer_key, 1), CREST_OK);
    }
    crest_spans_settings settings{};
    settings.spans = "hpp.*";
    settings.sample = 1;
    assert_int_equal(crest_spans_set(&settings, nullptr), CREST_OK);
    assert_int_equal(crest_span_exporter_add(&exporter), CREST_OK);
    uint64_t errors = value_of("hpp.store-time", {"error"}).count;
    try {
        crest::span outer{stores, crest::op(9)};
        assert_int_equal(outer.set(peer_key, 7u), CREST_OK);
        assert_int_equal(outer.set(peer_key, true), CREST_OK);
        assert_int_equal(outer.set(peer_key, 0.5f), CREST_OK);
        assert_int_equal(outer.set(peer_key, "a text"), CREST_OK);
        assert_int_equal(outer.set(peer_key, std::string("another")), CREST_OK);
        assert_int_equal(outer.event(peer_key), CREST_OK);
        assert_int_equal(outer.kind(CREST_SPAN_CLIENT), CREST_OK);
        assert_int_equal(outer.message(", failed"), CREST_OK);
        crest_span_context here = outer.context();
        assert_int_equal(outer.link(here), CREST_OK);
        {
            crest::span inner{pings.with("span"), crest::op(9)};
        }
        throw std::runtime_error("thrown");
    } catch (const std::runtime_error &) {
    }
    assert_int_equal(crest_spans_flush(1), CREST_OK);
    assert_int_equal(crest_span_exporter_remove(&exporter), CREST_OK);
    settings.spans = nullptr;
    assert_int_equal(crest_spans_set(&settings, nullptr), CREST_OK);
    assert_int_equal(value_of("hpp.store-time", {"error"}).count, errors + 1);
    assert_int_equal(all.spans, 2);
    assert_int_equal(all.attributes, 5);
    assert_int_equal(all.events, 1);
    assert_string_equal(all.text.c_str(), "a text, failed");
    assert_true(all.parent != 0 && all.parent == all.child_of);
}

static void test_runtime(void **)
{
    {
        crest::runtime wrong{"no-such-option=1"};
        assert_false(wrong.running() || static_cast<bool>(wrong));
        assert_int_equal(wrong.status(), CREST_INVALID_OPTIONS);
        assert_true(wrong.message().find("no-such-option") != std::string_view::npos);
        assert_int_equal(wrong.stop(1s), CREST_NOT_RUNNING);
    }
    {
        crest::runtime started{std::string("threads=off")};
        assert_true(static_cast<bool>(started));
        assert_true(started.message().empty());
        crest::runtime moved = std::move(started);
        assert_true(moved.running() && !started.running());
        crest::runtime again{"threads=off"};
        assert_true(again.running() && !again);
        assert_int_equal(again.status(), CREST_ALREADY);
        assert_int_equal(again.stop(1s), CREST_OK);
        moved.deadline(1s);
    }
    assert_int_equal(crest_stop(0, nullptr), CREST_NOT_RUNNING); /* all of them stopped */
}

static void test_registries(void **)
{
    crest_registry_options options;
    options.prefix = "heap";
    crest::registry apart{options}, other;
    assert_ptr_not_equal(apart.c_ptr(), other.c_ptr());
    auto found = crest::counter_ref::get("found", "Apart.", crest::options{}.in(apart.c_ptr()));
    found.inc();
    assert_int_equal(value_of("heap.found", {}, apart.c_ptr()).count, 1);
    other = std::move(apart);
    assert_int_equal(value_of("heap.found", {}, other.c_ptr()).count, 1);
    {
        crest::registry last = std::move(other);
    }
    found.inc(); /* into nothing */
    assert_int_equal(found.value(), 0);
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics),    cmocka_unit_test(test_references),
        cmocka_unit_test(test_families),   cmocka_unit_test(test_operations),
        cmocka_unit_test(test_timing),     cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_spans),      cmocka_unit_test(test_runtime),
        cmocka_unit_test(test_registries),
    };
    return cmocka_run_group_tests_name("crest_hpp", tests, nullptr, nullptr);
}
