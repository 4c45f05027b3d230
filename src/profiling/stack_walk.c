/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking a stack. See stack_walk.h.
 */
#define _GNU_SOURCE
#include "profiling/stack_walk.h"
#include "profiling/row_cache.h"

#include <ucontext.h>

/* How far apart two frames may be: a function's own variables. */
#define WALK_FRAME_BYTES_MAX (UINT64_C(64) << 20)
/* Frames of signal handlers on one stack, each of which may lead to another stack. */
#define WALK_SIGNALS_MAX 4u

typedef struct walker {
    crest_walk_state *state;
    crest_checked_memory *stack;
    crest_checked_memory tables;
    const crest_modules *modules;
    unsigned signals;
    int exact; /* the address is that of an interrupted instruction, not of a return */
} walker;

static int walk_knows(const crest_walk_state *state, unsigned number)
{
    return (state->known >> number & 1) != 0;
}

static void walk_set(crest_walk_state *state, unsigned number, uint64_t value)
{
    state->reg[number] = value;
    state->known |= 1u << number;
}

/* Where the kernel keeps a register in a ucontext, by DWARF's number: r8 to r15, rdi, rsi, rbp,
 * rbx, rdx, rax, rcx, rsp, rip from its 40th byte. Source: the kernel's struct sigcontext_64. */
static const uint8_t walk_context_words[CREST_REGISTER_COUNT] = {13, 12, 14, 11, 9, 8, 10, 15, 0,
                                                                 1,  2,  3,  4,  5, 6, 7,  16};
#define WALK_CONTEXT_REGISTERS 40u

void crest_walk_from_context(crest_walk_state *state, const void *ucontext)
{
    const char *registers = (const char *)ucontext + WALK_CONTEXT_REGISTERS;
    for (unsigned i = 0; i < CREST_REGISTER_COUNT; i++)
        __builtin_memcpy(&state->reg[i], registers + 8u * walk_context_words[i], 8);
    state->known = (1u << CREST_REGISTER_COUNT) - 1;
    state->interrupted = 0;
}

/* Past the kernel's frame of a signal handler: to what the signal interrupted. */
static int walk_signal(walker *walk)
{
    uint64_t context = walk->state->reg[CREST_REGISTER_RSP];
    if (++walk->signals > WALK_SIGNALS_MAX)
        return 0;
    for (unsigned i = 0; i < CREST_REGISTER_COUNT; i++) {
        uint64_t at = context + WALK_CONTEXT_REGISTERS + 8u * walk_context_words[i], value;
        if (!crest_checked_word(walk->stack, at, &value))
            return 0;
        walk_set(walk->state, i, value);
    }
    walk->state->interrupted = walk->state->reg[CREST_REGISTER_RIP];
    walk->exact = 1;
    return 1;
}

/* To the caller's frame, whose CFA is known: its return address lies below it. */
static int walk_return(walker *walk, uint64_t cfa)
{
    uint64_t from = walk->state->reg[CREST_REGISTER_RSP], address;
    if (cfa <= from || cfa - from > WALK_FRAME_BYTES_MAX ||
        !crest_checked_word(walk->stack, cfa - 8, &address))
        return 0;
    walk_set(walk->state, CREST_REGISTER_RSP, cfa);
    walk_set(walk->state, CREST_REGISTER_RIP, address);
    walk->exact = 0;
    return 1;
}

static int walk_by_row(walker *walk, const crest_unwind_row *row)
{
    crest_walk_state *state = walk->state;
    if (row->kind == CREST_UNWIND_SIGNAL)
        return walk_signal(walk);
    if (!walk_knows(state, row->base))
        return 0;
    uint64_t base = state->reg[row->base], cfa = base + (uint64_t)(int64_t)row->offset;
    if (row->kind == CREST_UNWIND_DEREF) {
        if (!crest_checked_word(walk->stack, cfa, &cfa))
            return 0;
        cfa += (uint64_t)(int64_t)row->second;
    }
    if (!walk_return(walk, cfa))
        return 0;
    /* what a table says nothing of has its value still, as in other unwinders: libcrypto's
       assembler finds its frames by %rax, past the helpers that it calls */
    uint32_t known = state->known | 1u << CREST_REGISTER_RSP | 1u << CREST_REGISTER_RIP;
    for (unsigned i = 0; i < CREST_UNWIND_KEPT; i++)
        known &= ~(1u << crest_unwind_kept_register(i));
    for (unsigned i = 0; i < CREST_UNWIND_KEPT; i++) {
        unsigned number = crest_unwind_kept_register(i), by_base = row->by_base >> i & 1;
        uint64_t at = (by_base ? base : cfa) + (uint64_t)((int64_t)row->saved[i] * 8), value;
        if (row->saved[i] == CREST_UNWIND_SAME && !by_base)
            known |= state->known & 1u << number;
        else if (row->saved[i] != CREST_UNWIND_LOST &&
                 crest_checked_word(walk->stack, at, &value)) {
            state->reg[number] = value;
            known |= 1u << number;
        }
    }
    state->known = known;
    return 1;
}

/* Whether a call stands before the address, in some module's code. Source: Intel's manual, CALL. */
static int walk_follows_call(walker *walk, uint64_t address)
{
    uint64_t byte;
    const crest_module *module = crest_modules_find(walk->modules, address - 1);
    if (module == NULL || module->gone || address - module->low < 8)
        return 0;
    if (crest_checked_number(&walk->tables, address - 5, 1, &byte) && byte == 0xe8)
        return 1;
    for (unsigned back = 2; back <= 7; back++) {
        uint64_t mode;
        if (crest_checked_number(&walk->tables, address - back, 1, &byte) && byte == 0xff &&
            crest_checked_number(&walk->tables, address - back + 1, 1, &mode) &&
            (mode & 0x38) == 0x10)
            return 1;
    }
    return 0;
}

/* Nothing is known of the instruction: the caller may just have called, as from a PLT; or the
 * function may keep a frame pointer. */
static int walk_by_guess(walker *walk)
{
    crest_walk_state *state = walk->state;
    uint64_t rsp = state->reg[CREST_REGISTER_RSP], rbp = state->reg[CREST_REGISTER_RBP], word;
    if (walk->exact && crest_checked_word(walk->stack, rsp, &word) && walk_follows_call(walk, word))
        return walk_return(walk, rsp + 8);
    if (!walk_knows(state, CREST_REGISTER_RBP) || rbp % 8 != 0 || rbp < rsp ||
        rbp - rsp > WALK_FRAME_BYTES_MAX || !crest_checked_word(walk->stack, rbp + 8, &word) ||
        !walk_follows_call(walk, word) || !crest_checked_word(walk->stack, rbp, &word) ||
        !walk_return(walk, rbp + 16))
        return 0;
    walk_set(state, CREST_REGISTER_RBP, word);
    return 1;
}

static void walk_find_row(walker *walk, uint64_t pc, crest_unwind_row *row)
{
    uint32_t generation = walk->modules != NULL ? walk->modules->generation : 0;
    *row = (crest_unwind_row){.kind = CREST_UNWIND_NONE};
    if (crest_row_cache_get(pc, generation, row))
        return;
    const crest_module *module = crest_modules_find(walk->modules, pc);
    if (module == NULL || module->header == 0)
        return;
    crest_unwind_row_find(&walk->tables, module->header, module->image_low, module->image_high, pc,
                          row);
    crest_row_cache_put(pc, generation, row);
}

size_t crest_stack_walk(crest_walk_state *state, crest_checked_memory *stack,
                        const crest_modules *modules, uint64_t *frames, size_t room,
                        crest_walk_end *how)
{
    walker walk = {state, stack, CREST_CHECKED_DIRECT, modules, 0, 1};
    size_t count = 0;
    for (;;) {
        uint64_t pc = state->reg[CREST_REGISTER_RIP];
        crest_unwind_row row;
        *how = CREST_WALK_WHOLE;
        if (pc == 0 && count > 0)
            return count;
        *how = CREST_WALK_LONG;
        if (count == room)
            return count;
        pc -= walk.exact ? 0 : 1;
        frames[count++] = pc;
        walk_find_row(&walk, pc, &row);
        *how = CREST_WALK_WHOLE;
        if (row.kind == CREST_UNWIND_END)
            return count;
        *how = CREST_WALK_BROKEN;
        if (row.kind == CREST_UNWIND_NONE ? !walk_by_guess(&walk) : !walk_by_row(&walk, &row))
            return count;
    }
}
