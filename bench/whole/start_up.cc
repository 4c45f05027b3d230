/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See start_up.h. The programs are those of start_up/, built beside this one; they say how much
 * processor time their process had taken when `main` began, loading and linking by the kernel and
 * the dynamic linker included, and when a first snapshot had been taken and freed.
 */
#include "start_up.h"
#include "own_process.h"
#include "side.h"

#include <memory>
#include <unistd.h>

namespace
{

const unsigned EVERY = 2;  /* rounds: each time is some processes */
const unsigned STARTS = 5; /* of which the middle one counts */

/* Starts a program some times; false figures when the number of its metrics is not `metrics`. */
own_process_values starts(const std::string &program, uint64_t metrics, uint64_t *wrong)
{
    std::map<std::string, std::vector<double>> all;
    for (unsigned i = 0; i < STARTS; i++) {
        own_process_values values = own_process_run({program});
        *wrong += uint64_t(values["metrics"]) != metrics;
        for (const auto &value : values)
            all[value.first].push_back(value.second);
    }
    own_process_values middle;
    for (const auto &each : all)
        middle[each.first] = own_process_median(each.second);
    return middle;
}

} // namespace

void start_up_benchmarks(side &mine)
{
    static uint64_t wrong;
    std::string path = own_process_path();
    std::string folder = path.substr(0, path.rfind('/'));
    std::string many = std::to_string(mine.given().number("static_metrics", 10000));
    if (access((folder + "/started-" + many).c_str(), X_OK) != 0) {
        mine.missing("crest/start-up/" + many + "/1",
                     "no program with as many was built: make it with STATIC_METRICS=" + many);
        many = "0";
    }
    const struct {
        std::string id, snapshot_id, program;
        uint64_t metrics;
    } all[] = {{"limit/start-up/0", "", "started-without", 0},
               {"crest/start-up/0", "crest/start-up-snapshot/0", "started-0", 0},
               {"crest/start-up/" + many, "crest/start-up-snapshot/" + many, "started-" + many,
                std::stoull(many)}};
    for (const auto &each : all) {
        if (&each != all && each.id == (&each)[-1].id)
            continue;
        std::string program = folder + "/" + each.program;
        uint64_t metrics = each.metrics;
        auto figures =
            std::make_shared<own_process_figures>([=] { return starts(program, metrics, &wrong); });
        mine.value(
            each.id, "ms", [=] { return figures->value("main"); }, EVERY);
        if (!each.snapshot_id.empty())
            mine.value(
                each.snapshot_id, "ms", [=] { return figures->value("snapshot"); }, EVERY);
    }
    mine.expect(
        "starts with another number of static metrics", [] { return wrong; },
        [] { return uint64_t(0); });
}
