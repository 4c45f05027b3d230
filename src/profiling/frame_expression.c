/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of call frame information. See frame_expression.h.
 */
#include "profiling/frame_expression.h"

#include <stddef.h>

#define EXPRESSION_STACK 8u

typedef struct expression_stack {
    crest_frame_value value[EXPRESSION_STACK];
    unsigned count;
    int failed;
} expression_stack;

static void expression_push(expression_stack *stack, unsigned base, int64_t offset)
{
    if (stack->count == EXPRESSION_STACK)
        stack->failed = 1;
    else
        stack->value[stack->count++] = (crest_frame_value){base, 0, offset, 0};
}

static void expression_push_register(expression_stack *stack, uint64_t base, int64_t offset,
                                     uint64_t pc)
{
    if (base == CREST_REGISTER_RIP)
        expression_push(stack, CREST_FRAME_NO_REGISTER, (int64_t)(pc + (uint64_t)offset));
    else if (base > CREST_REGISTER_RIP)
        stack->failed = 1;
    else
        expression_push(stack, (unsigned)base, offset);
}

static void expression_add(crest_frame_value *to, int64_t amount)
{
    int64_t *part = to->deref ? &to->second : &to->offset;
    *part = (int64_t)((uint64_t)*part + (uint64_t)amount);
}

/* The top two: their sum, difference, or, of constants, what the operation makes of them. */
static void expression_two(expression_stack *stack, unsigned operation)
{
    if (stack->count < 2) {
        stack->failed = 1;
        return;
    }
    crest_frame_value *top = &stack->value[--stack->count], *below = top - 1;
    int top_is_constant = top->base == CREST_FRAME_NO_REGISTER && !top->deref;
    int constants = top_is_constant && below->base == CREST_FRAME_NO_REGISTER && !below->deref;
    uint64_t a = (uint64_t)below->offset, b = (uint64_t)top->offset;
    if (operation == 0x22 && top_is_constant) { /* plus */
        expression_add(below, top->offset);
    } else if (operation == 0x22 && below->base == CREST_FRAME_NO_REGISTER && !below->deref) {
        int64_t amount = below->offset;
        *below = *top;
        expression_add(below, amount);
    } else if (operation == 0x1c && top_is_constant) { /* minus */
        expression_add(below, (int64_t)-b);
    } else if (!constants) {
        stack->failed = 1;
    } else {
        switch (operation) {
        case 0x1a: a &= b; break;
        case 0x1e: a *= b; break;
        case 0x21: a |= b; break;
        case 0x24: a = b < 64 ? a << b : 0; break;
        case 0x25: a = b < 64 ? a >> b : 0; break;
        case 0x29: a = a == b; break;
        case 0x2a: a = (int64_t)a >= (int64_t)b; break;
        case 0x2b: a = (int64_t)a > (int64_t)b; break;
        case 0x2c: a = (int64_t)a <= (int64_t)b; break;
        case 0x2d: a = (int64_t)a < (int64_t)b; break;
        case 0x2e: a = a != b; break;
        default: stack->failed = 1; break;
        }
        below->offset = (int64_t)a;
    }
}

static void expression_deref(expression_stack *stack)
{
    crest_frame_value *top = stack->count > 0 ? &stack->value[stack->count - 1] : NULL;
    if (top == NULL || top->deref || top->base == CREST_FRAME_NO_REGISTER)
        stack->failed = 1;
    else
        top->deref = 1;
}

static void expression_operation(expression_stack *stack, crest_frame_reader *reader, uint64_t pc)
{
    unsigned operation = (unsigned)crest_frame_number(reader, 1);
    uint64_t base;
    if (operation >= 0x30 && operation <= 0x4f) { /* lit0 to lit31 */
        expression_push(stack, CREST_FRAME_NO_REGISTER, operation - 0x30);
    } else if (operation >= 0x70 && operation <= 0x8f) { /* breg0 to breg31 */
        expression_push_register(stack, operation - 0x70, crest_frame_sleb(reader), pc);
    } else if (operation >= 0x19 && operation <= 0x2e && operation != 0x23) {
        expression_two(stack, operation);
    } else {
        switch (operation) {
        case 0x06: expression_deref(stack); break;
        case 0x08:
            expression_push(stack, CREST_FRAME_NO_REGISTER, (int64_t)crest_frame_number(reader, 1));
            break;
        case 0x09:
            expression_push(stack, CREST_FRAME_NO_REGISTER, (int8_t)crest_frame_number(reader, 1));
            break;
        case 0x0a:
            expression_push(stack, CREST_FRAME_NO_REGISTER, (int64_t)crest_frame_number(reader, 2));
            break;
        case 0x0b:
            expression_push(stack, CREST_FRAME_NO_REGISTER, (int16_t)crest_frame_number(reader, 2));
            break;
        case 0x10:
            expression_push(stack, CREST_FRAME_NO_REGISTER, (int64_t)crest_frame_uleb(reader));
            break;
        case 0x11: expression_push(stack, CREST_FRAME_NO_REGISTER, crest_frame_sleb(reader)); break;
        case 0x23: /* plus_uconst */
            if (stack->count == 0)
                stack->failed = 1;
            else
                expression_add(&stack->value[stack->count - 1], (int64_t)crest_frame_uleb(reader));
            break;
        case 0x92: /* bregx */
            base = crest_frame_uleb(reader);
            expression_push_register(stack, base, crest_frame_sleb(reader), pc);
            break;
        default: stack->failed = 1; break;
        }
    }
}

int crest_frame_expression(crest_frame_reader *reader, uint64_t pc, crest_frame_value *value)
{
    expression_stack stack = {.count = 0};
    uint64_t length = crest_frame_uleb(reader);
    crest_frame_reader inside = *reader;
    crest_frame_skip(reader, length);
    inside.end = reader->at;
    for (unsigned i = 0; !reader->failed && inside.at < inside.end; i++) {
        expression_operation(&stack, &inside, pc);
        if (stack.failed || inside.failed || i == CREST_FRAME_OPERATIONS_MAX)
            return 0;
    }
    if (reader->failed || stack.count == 0)
        return 0;
    *value = stack.value[stack.count - 1];
    return 1;
}
