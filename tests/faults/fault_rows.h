/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of fault_wrappers.c and fault_libraries.c are made with. See faults.h. */
#ifndef CREST_TESTS_FAULT_ROWS_H
#define CREST_TESTS_FAULT_ROWS_H

#include "faults.h"

#include <errno.h>
#include <stdarg.h>

#define WRAPS(type, name, parameters)                                                              \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;

#define FAULT_DECLARE(type, name, parameters)                                                      \
    WRAPS(type, name, parameters)                                                                  \
    static fault_function fault_##name FAULT_ROW = {#name, 0};

/* (type, name, parameters, arguments, what it does when it fails, …): a function of the system's */
#define ROW(type, name, parameters, arguments, ...)                                                \
    FAULT_DECLARE(type, name, parameters)                                                          \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (faults_now(&fault_##name)) {                                                           \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }

/* The same where a result that is not 0 is one object more that is to go again. */
#define ROW_MAKES(type, name, parameters, arguments, ...)                                          \
    FAULT_DECLARE(type, name, parameters)                                                          \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (faults_now(&fault_##name)) {                                                           \
            __VA_ARGS__;                                                                           \
        }                                                                                          \
        type made = __real_##name arguments;                                                       \
        faults_live(made != 0);                                                                    \
        return made;                                                                               \
    }

/* Cannot fail; one object less, if there is one. */
#define GOES(type, name, parameter)                                                                \
    WRAPS(type, name, (parameter thing))                                                           \
    type __wrap_##name(parameter thing)                                                            \
    {                                                                                              \
        faults_live(-(thing != 0));                                                                \
        return __real_##name(thing);                                                               \
    }

#define SAYS(number, value) errno = (number); return (value)

#endif
