/* SPDX-License-Identifier: Apache-2.0 */
/* A state file as one JSON object. */
#ifndef CREST_TOOLS_CAT_JSON_H
#define CREST_TOOLS_CAT_JSON_H

#include <crest/state.h>

#include <stdio.h>

/* Writes {"process": {…}, "in_flight": […], "series": […]} and a line feed. */
void cat_json(const crest_remains *remains, const crest_remains_about *about, FILE *to);

#endif
