/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the parsers of the kernel's texts share. Tests nothing itself.
 */
#ifndef CREST_TESTS_PROC_FIXTURE_H
#define CREST_TESTS_PROC_FIXTURE_H

#include "system/parse/proc_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define TEXT(bytes) crest_text_of(bytes, strlen(bytes))

/* What a fault shows, with a NUL; valid until the next call. */
__attribute__((unused)) static const char *fault_shown(const crest_fault *fault)
{
    static char shown[256];
    assert_non_null(fault->why);
    assert_true(crest_text_copy(fault->shown, shown, sizeof shown));
    return shown;
}

#endif
