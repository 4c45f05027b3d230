/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beginning and ending operations of timers by name: the calls of <crest/by_name.h> for keyed
 * timers. instruments/by_name.c has the others.
 */
#include <crest/by_name.h>

#undef crest_timer_begin_by_name
#undef crest_timer_end_by_name

crest_status crest_timer_begin_by_name_in(crest_source *source, const char *name, crest_op op)
{
    return crest_timer_begin(crest_timer_by_name_in(source, name), op);
}

crest_status crest_timer_begin_by_name(const char *name, crest_op op)
{
    return crest_timer_begin_by_name_in(NULL, name, op);
}

crest_status crest_timer_end_by_name_in(crest_source *source, const char *name, crest_op op,
                                        crest_outcome outcome)
{
    return crest_timer_end(crest_timer_by_name_in(source, name), op, outcome);
}

crest_status crest_timer_end_by_name(const char *name, crest_op op, crest_outcome outcome)
{
    return crest_timer_end_by_name_in(NULL, name, op, outcome);
}
