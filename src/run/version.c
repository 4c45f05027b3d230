/* SPDX-License-Identifier: Apache-2.0 */
/* Which library this is. See <crest/run.h>. */
#include <crest/run.h>

const char *crest_version(void)
{
    return CREST_BUILD_VERSION;
}
