/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which groups of collectors there are, and whether options of collectors are valid. Pure.
 */
#ifndef CREST_SYSTEM_GROUPS_H
#define CREST_SYSTEM_GROUPS_H

/* Whether the list, checked by crest_system_check, asks for the group. */
int crest_system_groups_have(const char *groups, const char *group);

#endif
