/* SPDX-License-Identifier: Apache-2.0 */
/* See crest_parts.h. */
#include "crest_parts.h"
#include "limit_loops.h"

#include <cstdio>
#include <cstdlib>

namespace
{

const uint64_t TIMES_LOCKED = UINT64_C(1) << 16;
const uint64_t TIMES_PAGE = UINT64_C(1) << 12;

void expect_objects(side &mine, const std::string &id, const std::function<uint64_t(unsigned)> &of)
{
    for (unsigned i = 0; i < LOOPS_HOT; i++)
        mine.expect(
            id, [=] { return of(i); }, [=, &mine] { return mine.asked(id, i); });
}

void expect_all(side &mine, const std::vector<std::string> &ids, uint64_t (*total)())
{
    mine.expect(ids[0], total, [=, &mine] {
        uint64_t asked = 0;
        for (const std::string &id : ids)
            asked += mine.asked(id);
        return asked;
    });
}

void register_words(side &mine)
{
    const struct {
        const char *id;
        loops_loop *loop;
        limit_word word;
    } words[] = {
        {"limit/thread-local-add/hot", limit_thread_local_add, LIMIT_WORD},
        {"limit/thread-local-add-so/hot", limit_thread_local_add_so, LIMIT_WORD_SO},
        {"limit/thread-local-add-so-inline/hot", limit_thread_local_add_so_inline,
         LIMIT_WORD_SO_INLINE},
        {"limit/thread-local-add-8-lines/hot", limit_thread_local_add_8_lines, LIMIT_WORD_LINES},
    };
    for (const auto &each : words) {
        limit_word word = each.word;
        mine.loop(each.id, TIMES_FAST, LOOPS_HOT, each.loop, SIDE_SEPARATE, TIMES_TOGETHER);
        expect_objects(mine, each.id,
                       [=](unsigned i) { return limit_thread_local_total(word, i); });
    }
}

void register_random(side &mine)
{
    std::string random = "limit/thread-local-add/random";
    if (mine.given().names.size() > LIMIT_RANDOM_MAX) {
        mine.missing(random + "/1", "there are more metrics than words for them");
        return;
    }
    mine.loop(random, TIMES_FAST, 1, limit_thread_local_add_random);
    expect_all(mine, {random}, limit_random_total);
}

void register_pairs(side &mine)
{
    std::string pair = "limit/lock-cmpxchg16b/hot";
    if (!limit_has_cmpxchg16b()) {
        mine.missing(pair + "/1", "this processor has no such instruction");
        return;
    }
    mine.loop(pair, TIMES_LOCKED, LOOPS_HOT, limit_lock_cmpxchg16b);
    expect_objects(mine, pair, limit_pair_total);
}

void register_shared(side &mine)
{
    std::string locked = "limit/lock-xadd/hot", lines = "limit/lock-xadd-8-lines/hot";
    mine.loop(locked, TIMES_LOCKED, LOOPS_HOT, limit_lock_xadd, SIDE_BOTH, TIMES_LOCKED);
    expect_objects(mine, locked, limit_lock_total);
    mine.loop(lines, TIMES_LOCKED, LOOPS_HOT, limit_lock_xadd_8_lines, SIDE_BOTH, TIMES_LOCKED);
    expect_objects(mine, lines, limit_lock_8_total);

    std::string store = "limit/store-double/hot";
    mine.loop(store, TIMES_FAST, LOOPS_HOT, limit_store_double, SIDE_BOTH, TIMES_TOGETHER);
    for (unsigned i = 0; i < LOOPS_HOT; i++)
        mine.expect(
            store, [=] { return uint64_t(limit_store_double_value(i)); },
            [=, &mine] { return mine.asked(store, i) ? LOOPS_VALUES - 1 : 0; });

    /* it leaves nothing to count: limit_loops.c says where to look for the call */
    mine.loop("limit/empty-call-so/hot", TIMES_FAST, LOOPS_HOT, limit_empty_call_so, SIDE_SEPARATE,
              TIMES_TOGETHER);
}

void register_clocks(side &mine)
{
    const std::string once = "limit/clock/hot", twice = "limit/clock-twice/hot";
    const std::string kernel = "limit/clock-gettime/hot";
    mine.loop(once, TIMES_SLOW, LOOPS_HOT, limit_clock);
    mine.loop(twice, TIMES_SLOW, LOOPS_HOT, limit_clock_twice);
    mine.loop(kernel, TIMES_SLOW, LOOPS_HOT, limit_clock_gettime);
    expect_all(mine, {once, twice, kernel}, limit_clock_total);
}

void register_tables(side &mine)
{
    static std::vector<const char *> names;
    std::string probe = "limit/hash-and-probe/random", page = "limit/memcpy-page/hot";
    for (const std::string &name : mine.given().names)
        names.push_back(name.c_str());
    if (!limit_names_prepare(names.data(), unsigned(names.size())) || !limit_plain_prepare()) {
        std::fprintf(stderr, "there is no memory for the tables\n");
        std::exit(2);
    }
    mine.loop(probe, TIMES_RANDOM, 1, limit_hash_and_probe);
    expect_all(mine, {probe}, limit_hash_total);
    mine.loop(page, TIMES_PAGE, LOOPS_HOT, limit_memcpy_page);
    expect_all(mine, {page}, limit_memcpy_total);
    std::string mutex = "limit/plain-mutex/hot";
    mine.loop(mutex, TIMES_SLOW * 4, LOOPS_HOT, limit_plain_mutex);
    expect_all(mine, {mutex}, limit_mutex_total);
}

void register_plain(side &mine)
{
    const struct {
        const char *id;
        loops_loop *loop;
        limit_plain which;
    } plains[] = {
        {"limit/plain-hdr/hot", limit_plain_hdr, LIMIT_PLAIN},
        {"limit/plain-hdr-folded/hot", limit_plain_hdr_folded, LIMIT_PLAIN_FOLDED},
        {"limit/plain-hdr-even/hot", limit_plain_hdr_even, LIMIT_PLAIN_EVEN},
    };
    for (const auto &each : plains) {
        std::string id = each.id;
        limit_plain which = each.which;
        const std::vector<int64_t> &values =
            which == LIMIT_PLAIN_EVEN ? mine.given().even : mine.given().values;
        mine.loop(id, TIMES_FAST, LOOPS_HOT, each.loop);
        for (unsigned i = 0; i < LOOPS_HOT; i++) {
            auto asked = [=, &mine] { return mine.asked(id, i); };
            auto found = [=](int64_t *least, int64_t *most) {
                return limit_plain_total(which, i, least, most);
            };
            mine.expect(
                id,
                [=] {
                    int64_t least, most;
                    return found(&least, &most);
                },
                asked);
            mine.expect(
                id + ": that least and most are right",
                [=, &values] {
                    int64_t least, most;
                    found(&least, &most);
                    workload_left left = workload_left_of(values, asked());
                    return asked() == 0 || (least == left.least && most == left.most);
                },
                [] { return 1; });
        }
    }
}

} // namespace

void register_limits(side &mine)
{
    register_words(mine);
    register_random(mine);
    register_shared(mine);
    register_pairs(mine);
    register_clocks(mine);
    register_tables(mine);
    register_plain(mine);
}
