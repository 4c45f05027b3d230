/* SPDX-License-Identifier: Apache-2.0 */
/* See crest_parts.h. */
#include "crest_parts.h"
#include "other_loops.h"
#include "subjects.h"

#include <crest/crest.h>

namespace
{

struct recording {
    loops_operation operation;
    const char *text;
    bool slow; /* tens of nanoseconds */
};

const recording recordings[] = {
    {LOOPS_COUNTER, "counter", false},
    {LOOPS_GAUGE, "gauge", false},
    {LOOPS_HISTOGRAM, "histogram", false},
    {LOOPS_TIMER, "timer", true},
    {LOOPS_KEYED_TIMER, "keyed-timer", true},
    {LOOPS_RANGE_SAMPLER, "range-sampler", true},
    {LOOPS_HISTOGRAM_EVEN, "histogram-even", false},
    {LOOPS_TIMER_THROUGH_MEMORY, "timer-through-memory", true},
    {LOOPS_RANGE_SAMPLER_RAISE, "range-sampler-raise", true},
};

void register_peer(side &mine, loops_peer peer, const std::string &name, const loops_pair *loops)
{
    /* one set is enough to compare compilers: separate sets are measured with Crest in C */
    unsigned sets = peer == LOOPS_PEER_C ? subjects_sets(mine.given()) : 1;
    side_threads random_threads = peer == LOOPS_PEER_C ? SIDE_BOTH : SIDE_SAME;
    for (const recording &each : recordings) {
        std::string id = name + "/" + each.text, hot = id + "/hot", random = id + "/random";
        bool both = each.operation < LOOPS_BOTH;
        if (!mine.wanted(hot) && !(both && mine.wanted(random)))
            continue;
        const loops_pair &pair = loops[each.operation];
        unsigned made = both ? sets : 0;
        subjects_make(peer, each.operation, made);
        mine.loop(hot, each.slow ? TIMES_SLOW : TIMES_FAST, LOOPS_HOT, pair.hot,
                  both ? SIDE_BOTH : SIDE_ONE, each.slow ? LOOPS_SHORT : TIMES_TOGETHER);
        if (both)
            mine.loop(random, each.slow ? LOOPS_SHORT : TIMES_RANDOM, sets, pair.random,
                      random_threads);
        subjects_expect(mine, peer, each.operation, hot, random, made);
    }
}

void register_scopes(side &mine)
{
    for (bool cc : {false, true}) {
        std::string id = cc ? "crest-cc/scope/hot" : "crest/scope/hot";
        mine.loop(id, TIMES_SLOW, LOOPS_HOT, cc ? other_scope_cc : other_scope);
        subjects_expect_timer(mine, id, cc ? OTHER_SCOPE_CC_NAME : OTHER_SCOPE_NAME,
                              [=, &mine] { return mine.asked(id); });
    }
}

void register_others(side &mine)
{
    std::string among = "crest/keyed-timer-among/hot", mutex = "crest/mutex/hot";
    if (mine.wanted(among))
        other_among_prepare();
    mine.loop(among, TIMES_SLOW, LOOPS_HOT, other_among, SIDE_SAME, LOOPS_SHORT);
    subjects_expect_timer(mine, among, OTHER_AMONG_NAME, [=, &mine] { return mine.asked(among); });
    mine.loop(mutex, TIMES_SLOW, LOOPS_HOT, other_mutex);
    mine.expect(
        mutex, [] { return subjects_recorded(OTHER_MUTEX_NAME ".lock.acquire", {"ok"}).count; },
        [=, &mine] { return mine.asked(mutex); });
}

} // namespace

void register_recording(side &mine)
{
    mine.version("crest", crest_version());
    register_peer(mine, LOOPS_PEER_C, "crest", loops_c);
    register_peer(mine, LOOPS_PEER_CC, "crest-cc", loops_cc);
    register_peer(mine, LOOPS_PEER_EXPORTED, "crest-exported", loops_exported);
    register_scopes(mine);
    register_others(mine);
}
