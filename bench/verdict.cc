/* SPDX-License-Identifier: Apache-2.0 */
/* See verdict.h. */
#include "verdict.h"

#include <algorithm>
#include <cstdio>

static verdict_spread verdict_spread_of(std::vector<double> values)
{
    if (values.empty())
        return {0, 0, 0};
    std::sort(values.begin(), values.end());
    size_t half = values.size() / 2;
    double median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {median, values.front(), values.back()};
}

size_t verdict::rounds(const std::string &name) const
{
    auto found = samples_.find(name);
    return found == samples_.end() ? 0 : found->second.size();
}

verdict_spread verdict::cost(const std::string &name) const
{
    auto found = samples_.find(name);
    return verdict_spread_of(found == samples_.end() ? std::vector<double>() : found->second);
}

verdict_spread verdict::ratio(const verdict_row &row) const
{
    auto own = samples_.find(row.name), other = samples_.find(row.reference);
    if (own == samples_.end() || other == samples_.end())
        return {0, 0, 0};
    std::vector<double> ratios;
    for (size_t i = 0; i < std::min(own->second.size(), other->second.size()); i++)
        ratios.push_back(own->second[i] / other->second[i]);
    return verdict_spread_of(ratios);
}

verdict_spread verdict::less(const verdict_row &row) const
{
    verdict_spread part = ratio(row);
    if (part.least <= 0)
        return {0, 0, 0};
    return {1 / part.median, 1 / part.most, 1 / part.least};
}

verdict_spread verdict::over(const verdict_row &row) const
{
    if (row.reference.empty())
        return cost(row.name);
    auto own = samples_.find(row.name), other = samples_.find(row.reference);
    if (own == samples_.end() || other == samples_.end())
        return {0, 0, 0};
    std::vector<double> above;
    for (size_t i = 0; i < std::min(own->second.size(), other->second.size()); i++)
        above.push_back(own->second[i] - other->second[i]);
    return verdict_spread_of(above);
}

bool verdict::has(const verdict_row &row) const
{
    return rounds(row.name) != 0 && (row.reference.empty() || rounds(row.reference) != 0);
}

static const char *verdict_word(const verdict_row &row, double ratio)
{
    return row.limit == 0 ? "" : ratio <= row.limit ? "met" : "MISSED";
}

unsigned verdict::print_row(const verdict_row &row) const
{
    unsigned missed = 0;
    verdict_spread cost_of = cost(row.name);
    int digits = cost_of.median < 1000 ? 3 : 0;
    std::printf("%-44s %8.*f (%.*f-%.*f)", row.text.c_str(), digits, cost_of.median, digits,
                cost_of.least, digits, cost_of.most);
    if (row.unit != "ns")
        std::printf(" %s", row.unit.c_str());
    if (row.times != 0) {
        verdict_spread part = less(row);
        bool met = part.median >= row.times;
        std::printf("   1/%.1f (%.1f-%.1f)  >= 1/%.0f %s", part.median, part.least, part.most,
                    row.times, met ? "met" : "MISSED");
        missed += !met;
    } else if (!row.reference.empty()) {
        verdict_spread part = ratio(row);
        const char *word = verdict_word(row, part.median);
        std::printf("   %6.3f (%.3f-%.3f)", part.median, part.least, part.most);
        if (row.limit != 0)
            std::printf("  <= %.2f %s", row.limit, word);
        missed += *word == 'M';
    }
    if (row.over_ns != 0) {
        double above = over(row).median;
        std::printf("  %+.1f %s, <= %.0f %s", above, row.unit.c_str(), row.over_ns,
                    above <= row.over_ns ? "met" : "MISSED");
        missed += above > row.over_ns;
    }
    std::printf("\n");
    return missed;
}

unsigned verdict::print(const std::vector<verdict_row> &rows) const
{
    unsigned missed = 0;
    std::printf("\n%-44s %24s  %23s  %s\n", "", "ns: median (min-max)", "ratio: median (min-max)",
                "target");
    for (const verdict_row &row : rows)
        if (has(row))
            missed += print_row(row);
    for (const verdict_row &row : rows) {
        double part = has(row) && row.limit != 0 ? ratio(row).median : 0;
        if (part > row.limit)
            std::printf("\nMISSED: %s: %.3f x %s, the target is %.2f: %.1f %% too much.\n",
                        row.text.c_str(), part, row.reference.c_str(), row.limit,
                        (part / row.limit - 1) * 100);
    }
    return missed;
}

static void verdict_json_text(std::FILE *file, const std::string &text)
{
    std::fputc('"', file);
    for (char c : text) {
        if (c == '"' || c == '\\')
            std::fputc('\\', file);
        std::fputc(static_cast<unsigned char>(c) < 0x20 ? ' ' : c, file);
    }
    std::fputc('"', file);
}

static void verdict_json_spread(std::FILE *file, const char *name, verdict_spread spread)
{
    std::fprintf(file, ", \"%s\": {\"median\": %.4f, \"min\": %.4f, \"max\": %.4f}", name,
                 spread.median, spread.least, spread.most);
}

int verdict::write_json(const std::string &path, const std::vector<verdict_row> &rows,
                        const std::vector<std::pair<std::string, std::string>> &facts) const
{
    std::FILE *file = std::fopen(path.c_str(), "w");
    if (file == nullptr)
        return 0;
    std::fprintf(file, "{\n");
    for (const auto &fact : facts) {
        std::fprintf(file, "  ");
        verdict_json_text(file, fact.first);
        std::fprintf(file, ": ");
        verdict_json_text(file, fact.second);
        std::fprintf(file, ",\n");
    }
    std::fprintf(file, "  \"rows\": [");
    const char *separator = "\n";
    for (const verdict_row &row : rows) {
        if (!has(row))
            continue;
        std::fprintf(file, "%s    {\"name\": ", separator);
        verdict_json_text(file, row.name);
        std::fprintf(file, ", \"text\": ");
        verdict_json_text(file, row.text);
        verdict_json_spread(file, "ns", cost(row.name));
        if (!row.reference.empty()) {
            std::fprintf(file, ", \"reference\": ");
            verdict_json_text(file, row.reference);
            verdict_json_spread(file, "ratio", ratio(row));
        }
        if (row.limit != 0)
            std::fprintf(file, ", \"limit\": %.2f, \"met\": %s", row.limit,
                         ratio(row).median <= row.limit ? "true" : "false");
        if (row.times != 0)
            std::fprintf(file, ", \"times\": %.1f, \"met\": %s", row.times,
                         less(row).median >= row.times ? "true" : "false");
        if (row.unit != "ns")
            std::fprintf(file, ", \"unit\": \"%s\"", row.unit.c_str());
        if (row.over_ns != 0) {
            verdict_json_spread(file, "over_ns", over(row));
            std::fprintf(file, ", \"over_ns_limit\": %.2f, \"met\": %s", row.over_ns,
                         over(row).median <= row.over_ns ? "true" : "false");
        }
        std::fprintf(file, ",\n     \"samples\": [");
        const char *comma = "";
        for (double ns : samples_.at(row.name)) {
            std::fprintf(file, "%s%.4f", comma, ns);
            comma = ", ";
        }
        std::fprintf(file, "]}");
        separator = ",\n";
    }
    std::fprintf(file, "\n  ]\n}\n");
    return std::fclose(file) == 0;
}
