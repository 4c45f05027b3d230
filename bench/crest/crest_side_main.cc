/* SPDX-License-Identifier: Apache-2.0 */
/* The side of Crest and of the machine's limits. */
#include "crest_parts.h"
#include "subjects.h"

int main(int argc, char **argv)
{
    side mine("crest", argc, argv);
    subjects_inputs(mine.given());
    register_limits(mine);
    register_recording(mine);
    register_resolving(mine);
    library running(mine.given());
    return mine.run();
}
