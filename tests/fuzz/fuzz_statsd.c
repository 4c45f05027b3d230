/* SPDX-License-Identifier: Apache-2.0 */
/*
 * StatsD lines: whatever prefixes, names, labels, tags and values there are, what comes out is
 * lines of the grammar, in packets that are not too long, and records are counted exactly.
 *
 * Input: a byte of choices, sixteen bytes of numbers, then texts, each up to a NUL: prefix, name,
 * two label values, service. The reader is written from the servers' documentation, not from our
 * encoder.
 */
#include "common/line_packet.h"
#include "fuzz_input.h"
#include "statsd/statsd_line.h"

#include <crest/distribution.h>

#define PACKET_BYTES 1432u

typedef struct lines {
    crest_line_packet packet;
    char bytes[PACKET_BYTES];
    int datadog;
    double records, amount;
} lines;

static int is_name_byte(unsigned char c, int datadog)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || (c == '-' && !datadog);
}

/* A decimal with an exponent or without; its value. */
static double read_number(const char **at, int exponent)
{
    const char *begin = *at;
    char *end;
    double value = strtod(begin, &end);
    FUZZ_WANTS(end != begin);
    for (const char *c = begin; c < end; c++)
        FUZZ_WANTS(strchr("0123456789.", *c) != NULL || (c == begin && *c == '-') ||
                   (exponent && (*c == 'e' || *c == '-')));
    *at = end;
    return value;
}

static void read_tags(const char *at)
{
    while (*at != '\0') {
        size_t length = strcspn(at, ",");
        FUZZ_WANTS(length > 0 && memchr(at, ':', length) != NULL);
        for (size_t i = 0; i < length; i++)
            FUZZ_WANTS((unsigned char)at[i] > ' ' && at[i] != '|' && at[i] != 0x7f);
        at += length;
        FUZZ_WANTS(*at == '\0' || at[1] != '\0');
        at += *at == ',';
    }
}

static void read_line(lines *all, const char *at)
{
    const char *begin = at;
    double values = 0, value = 0, rate = 1;
    while (is_name_byte((unsigned char)*at, all->datadog))
        at++;
    FUZZ_WANTS(at > begin && *at == ':');
    while (*at == ':') {
        at++;
        value = read_number(&at, 1);
        values++;
    }
    FUZZ_WANTS(*at++ == '|');
    size_t length = strcspn(at, "|");
    int distribution = all->datadog ? *at == 'd' || *at == 'h' : strncmp(at, "ms", length) == 0;
    FUZZ_WANTS(distribution || (length == 1 && (*at == 'c' || *at == 'g')));
    FUZZ_WANTS(values == 1 || (distribution && all->datadog));
    int counter = *at == 'c';
    at += length;
    if (at[0] == '|' && at[1] == '@') {
        at += 2;
        rate = read_number(&at, 0);
        FUZZ_WANTS(rate > 0 && rate < 1);
    }
    volatile double weight = 1 / rate;
    if (distribution)
        all->records += values * weight;
    if (counter)
        all->amount += value;
    if (*at != '\0') {
        FUZZ_WANTS(all->datadog && at[0] == '|' && at[1] == '#');
        read_tags(at + 2);
    }
}

static void read_packet(lines *all)
{
    char text[PACKET_BYTES + 1];
    memcpy(text, all->bytes, all->packet.used);
    text[all->packet.used] = '\0';
    FUZZ_WANTS(strlen(text) == all->packet.used && all->packet.used > 0);
    char *at = text;
    for (;;) {
        size_t length = strcspn(at, "\n");
        int last = at[length] == '\0';
        at[length] = '\0';
        read_line(all, at);
        if (last)
            break;
        at += length + 1;
    }
    all->packet.used = 0;
}

static int take(void *context, const char *line, size_t length, uint64_t done)
{
    lines *all = context;
    (void)done;
    FUZZ_WANTS(crest_line_packet_holds(&all->packet, length));
    if (!crest_line_packet_fits(&all->packet, length))
        read_packet(all);
    crest_line_packet_add(&all->packet, line, length);
    return 0;
}

static void put_all(const crest_statsd_form *form, crest_series_view *series,
                    const uint64_t numbers[2])
{
    static crest_statsd_identity identity;
    lines all = {.datadog = form->dialect == CREST_STATSD_DATADOG};
    all.packet = (crest_line_packet){.bytes = all.bytes, .size = PACKET_BYTES};
    crest_distribution *grown = crest_distribution_new(NULL);
    FUZZ_WANTS(grown != NULL);
    uint64_t times[2] = {numbers[1] % 100000, numbers[0] % 977};
    crest_distribution_record(grown, (int64_t)(numbers[0] >> 22), times[0]);
    crest_distribution_record(grown, (int64_t)(numbers[1] >> 30), times[1]);
    double gauge;
    memcpy(&gauge, &numbers[0], sizeof gauge);
    crest_statsd_identify(form, series, &identity);
    /* what is longer than a packet is the packet writer's to drop */
    if (identity.name_length + identity.labels_length + identity.tags_length < 600) {
        crest_statsd_put_counter(form, series, &identity, numbers[0] >> 12, take, &all);
        crest_statsd_put_gauge(form, &identity, ".avg1m", gauge, take, &all);
        crest_statsd_put_distribution(form, series, &identity, grown, take, &all);
        read_packet(&all);
        FUZZ_WANTS(all.records == (double)crest_distribution_count(grown));
        FUZZ_WANTS(all.amount == (double)(numbers[0] >> 12));
    }
    crest_distribution_free(grown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, data + size};
    uint8_t choices = fuzz_byte(&input);
    uint64_t numbers[2] = {0, 0};
    for (unsigned i = 0; i < 16; i++)
        numbers[i / 8] = numbers[i / 8] << 8 | fuzz_byte(&input);
    char *prefix = fuzz_text(&input), *name = fuzz_text(&input);
    char *values[2] = {fuzz_text(&input), fuzz_text(&input)}, *service = fuzz_text(&input);
    static const char *const keys[] = {"kind", "peer"};
    char tags[1024] = "";
    crest_statsd_tag(tags, 0, sizeof tags, "service", service);
    crest_statsd_form form = {.dialect = choices & 1 ? CREST_STATSD_DATADOG : CREST_STATSD_ETSY,
                              .prefix = crest_statsd_prefix_is_valid(prefix) ? prefix : "",
                              .tags = tags,
                              .line_bytes_max = PACKET_BYTES,
                              .samples = choices >> 2,
                              .host_histograms = choices & 2};
    crest_series_view series = {.name = name,
                                .kind = CREST_KIND_HISTOGRAM,
                                .unit = CREST_NONE,
                                .label_count = 2,
                                .label_keys = keys,
                                .label_values = (const char *const *)values};
    put_all(&form, &series, numbers);
    free(prefix);
    free(name);
    free(values[0]);
    free(values[1]);
    free(service);
    return 0;
}
