/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a metric was refused, in words. See metric_refused.h.
 */
#include "instruments/metric_refused.h"
#include "base/misuse.h"
#include "names/buckets.h"
#include "names/names.h"

#include <stdio.h>
#include <string.h>

#define REFUSED_KEYS_BYTES 100u
#define REFUSED_PLACE_BYTES 80u /* of a longer path the end is shown */

static const char *refused_kind(crest_kind kind, unsigned stages)
{
    static const char *const words[] = {
        [CREST_KIND_COUNTER] = "a counter",     [CREST_KIND_GAUGE] = "a gauge",
        [CREST_KIND_HISTOGRAM] = "a histogram", [CREST_KIND_TIMER] = "a timer",
        [CREST_KIND_STAGES] = "stages",         [CREST_KIND_RANGE_SAMPLER] = "a range sampler",
    };
    if (stages != 0)
        kind = CREST_KIND_STAGES;
    return (unsigned)kind < sizeof words / sizeof *words && words[kind] != NULL ? words[kind]
                                                                                : "no metric";
}

static const char *refused_place(const char *place)
{
    if (place == NULL)
        return "made by a call";
    size_t length = strlen(place);
    return length > REFUSED_PLACE_BYTES ? place + length - REFUSED_PLACE_BYTES : place;
}

/* " with the labels a, b", or " without labels". */
static void refused_keys(char text[REFUSED_KEYS_BYTES], const char *const *keys, unsigned count)
{
    size_t at = (size_t)snprintf(text, REFUSED_KEYS_BYTES,
                                 count == 0 ? " without labels"
                                            : " with the label%s ",
                                 count == 1 ? "" : "s");
    for (unsigned i = 0; i < count && at < REFUSED_KEYS_BYTES; i++)
        at += (size_t)snprintf(text + at, REFUSED_KEYS_BYTES - at, "%s%.40s", i == 0 ? "" : ", ",
                               keys[i]);
}

static void refused_clash(char *text, const crest_metric_spec *spec, const crest_metric *known)
{
    char there[REFUSED_KEYS_BYTES], here[REFUSED_KEYS_BYTES];
    refused_keys(there, known->label_keys, crest_metric_keys(known));
    refused_keys(here, spec->keys, spec->key_count);
    int stages = known->stage_count != 0 && spec->stage_count != 0;
    snprintf(text, CREST_MISUSE_WHY_BYTES,
             "it is %s%s (%s), and is asked for as %s%s (%s)%s; give one of them another name",
             refused_kind(known->kind, known->stage_count), there, refused_place(known->place),
             refused_kind(spec->kind, spec->stage_count), here, refused_place(spec->place),
             stages ? " of other names or number" : "");
}

/* Which of the options is wrong, as the end of a sentence; "" for one that has no words here. */
static void refused_argument(char *why, size_t size, crest_kind kind,
                             const crest_metric_options *options)
{
    why[0] = '\0';
    if ((unsigned)options->unit > CREST_RATIO)
        snprintf(why, size, "its unit is none of CREST_NONE to CREST_RATIO");
    else if (options->description != NULL &&
             strnlen(options->description, CREST_DESCRIPTION_BYTES_MAX + 1) >
                 CREST_DESCRIPTION_BYTES_MAX)
        snprintf(why, size, "its description is longer than %u bytes", CREST_DESCRIPTION_BYTES_MAX);
    else if ((kind == CREST_KIND_STAGES) != (options->stages[0] != NULL))
        snprintf(why, size, kind == CREST_KIND_STAGES
                                ? "it has no stages"
                                : "it has stages, which only CREST_STAGES has");
    else if (options->buckets != NULL && options->buckets->bounds != NULL)
        (void)crest_buckets_check(options->buckets, why, size);
}

void crest_metric_refused(crest_status status, crest_kind kind, const crest_metric_options *options,
                          const crest_metric_spec *spec, const crest_metric *known)
{
    char text[CREST_MISUSE_WHY_BYTES], why[CREST_NAMES_WHY_BYTES] = "";
    if (options == NULL || options->name == NULL)
        return;
    if (status == CREST_TYPE_CLASH && known != NULL) {
        refused_clash(text, spec, known);
    } else {
        if (status == CREST_INVALID_NAME)
            (void)crest_name_check(options->name, why, sizeof why);
        else if (status == CREST_INVALID_LABEL)
            (void)crest_label_keys_check(spec->keys, spec->key_count, why, sizeof why);
        else if (status == CREST_INVALID_ARGUMENT)
            refused_argument(why, sizeof why, kind, options);
        snprintf(text, sizeof text, "%s%s%s", why, why[0] != '\0' && spec->place ? ", in " : "",
                 spec->place != NULL ? refused_place(spec->place) : "");
    }
    if (text[0] != '\0')
        crest_misuse_explain(crest_misuse_of(status), options->name, text);
}
