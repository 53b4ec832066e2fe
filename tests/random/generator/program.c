/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as data; see program.h. */
#include "program.h"
#include "rng.h"
#include <stddef.h>
#include <string.h>

step *program_add(program *p, step_kind kind, int results)
{
    if (p->steps == MOST_STEPS || p->slots + results > MOST_SLOTS) return NULL;
    step *s = &p->step[p->steps++];
    memset(s, 0, sizeof *s);
    s->kind = (uint8_t)kind;
    s->out = (int16_t)p->slots;
    s->results = (uint8_t)results;
    p->slots += results;
    return s;
}

void program_order(const program *p, int order[])
{
    rng d = {p->order};
    for (int k = 0; k < p->slots; k++) {
        const int at = p->order ? rng_below(&d, k + 1) : k;
        order[k] = order[at];
        order[at] = k;
    }
}

int program_loss(const program *p)
{
    for (int k = p->steps; k-- > 0;)
        if (!p->step[k].removed && p->step[k].kind == STEP_BACKWARD) return p->step[k].argument[0].slot[0];
    return -1;
}

int program_length(const program *p)
{
    int length = 0;
    for (int k = 0; k < p->steps; k++) length += !p->step[k].removed;
    return length;
}

int program_calls(const program *p)
{
    int calls = 0;
    for (int k = 0; k < p->steps; k++) {
        const uint8_t kind = p->step[k].kind;
        calls += !p->step[k].removed && (kind == STEP_CALL || kind == STEP_IN_PLACE || kind == STEP_BACKWARD ||
                                         kind == STEP_DIFFERENTIATE || kind == STEP_FUNCTION || kind == STEP_OPTIMISE);
    }
    return calls;
}

size_t program_bytes(const program *p)
{
    return offsetof(program, step) + sizeof(step) * (size_t)p->steps;
}
