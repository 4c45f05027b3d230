/* SPDX-License-Identifier: Apache-2.0 */
/* The timed loops as C. See loops_body.h. */
#include <crest/crest.h>

#define LOOPS_PEER LOOPS_PEER_C
#define LOOPS_TABLE loops_c
#include "loops_body.h"
