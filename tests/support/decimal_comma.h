/* SPDX-License-Identifier: Apache-2.0 */
/* A locale with a decimal comma, made for the test: few machines have one of their own. */
#ifndef DECIMAL_COMMA_H
#define DECIMAL_COMMA_H

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LeakSanitizer's, where it is: the C library keeps what it makes of LOCPATH. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

/* Numbers have a comma from here on, until setlocale(LC_NUMERIC, "C"). Ends the program where the
 * C library's localedef cannot make such a locale: nothing would be tested. */
static inline void decimal_comma(void)
{
    char folder[] = "/tmp/crest-locale-XXXXXX", line[512], text[16];
    if (mkdtemp(folder) == NULL)
        abort();
    /* 1 is its status after warnings: of what such a locale lacks */
    snprintf(line, sizeof line,
             "printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\n"
             "END LC_NUMERIC\\n' > %s/source && LC_ALL=C PATH=$PATH:/usr/bin localedef -c "
             "--no-archive -i %s/source -f ANSI_X3.4-1968 %s/comma > %s/said 2>&1 || [ $? -eq 1 ]",
             folder, folder, folder, folder);
    int status = system(line);
    setenv("LOCPATH", folder, 1);
    if (__lsan_disable != NULL)
        __lsan_disable();
    const char *set = setlocale(LC_NUMERIC, "comma");
    if (__lsan_enable != NULL)
        __lsan_enable();
    unsetenv("LOCPATH");
    snprintf(text, sizeof text, "%.1f", 1.5);
    snprintf(line, sizeof line, "rm -r %s", folder);
    if (status != 0 || set == NULL || strcmp(text, "1,5") != 0 || system(line) != 0) {
        fprintf(stderr, "no locale with a decimal comma could be made in %s\n", folder);
        abort();
    }
}

#endif
