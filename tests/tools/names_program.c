/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's own verdicts on names, for tests/tools/test_lint_names.py, which compares them with
 * those of crest lint. It judges nothing itself.
 *
 *     printf 'name comm..ping\nsplit a-b a.b\nkey le\n' | names_program
 */
#include "names/lookalike_names.h"
#include "names/names.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[4096], why[512];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *first = strchr(line, ' ');
        if (first == NULL)
            return 1;
        *first++ = '\0';
        if (strcmp(line, "name") == 0) {
            puts(crest_name_check(first, why, sizeof why) == CREST_OK ? "ok" : why);
        } else if (strcmp(line, "key") == 0) {
            puts(crest_label_key_check(first, why, sizeof why) == CREST_OK ? "ok" : "bad");
        } else {
            char *second = strchr(first, ' ');
            if (second == NULL)
                return 1;
            *second++ = '\0';
            puts(crest_split_same(first, second) ? "same" : "other");
        }
    }
    return 0;
}
