/* SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint_signature.h"
#include "optim/optim.h"
#include <string.h>

enum { NETWORK = 1, LOADER = 2, TENSORS = 4, LETTERS = 7 };

/* Bits 0-2: network, loader and tensors; above them the first seven letters of the optimiser's kind, which are
 * unique. */
int64_t wk__checkpoint_signature(const wk__checkpoint *c)
{
    uint64_t parts = (c->net ? NETWORK : 0) | (c->loader ? LOADER : 0) | (c->tensors ? TENSORS : 0);
    const char *name = c->optim ? wk__optim_algorithm_name(wk__optim_of(c->optim)->rule) : "";
    for (int k = 0; k < LETTERS && name[k] != '\0'; k++) parts |= (uint64_t)(unsigned char)name[k] << (8 * (k + 1));
    return (int64_t)parts;
}

static void describe(int64_t parts, wk__text *to)
{
    static const struct {
        int bit;
        const char *name;
    } of[] = {{NETWORK, "a network"}, {LOADER, "a loader"}, {TENSORS, "tensors"}};
    char name[LETTERS + 1] = "";
    int count = 0;
    for (int k = 0; k < LETTERS; k++) name[k] = (char)((uint64_t)parts >> (8 * (k + 1)));
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        if (parts & of[k].bit) wk__text_format(to, count++ ? ", %s" : "%s", of[k].name);
    if (name[0] != '\0') wk__text_format(to, count++ ? ", optimiser %s" : "optimiser %s", name);
    if (count == 0) wk__text_add(to, "nothing");
}

bool wk__checkpoint_check_same(const int64_t *all, int stride, wk_site site, const char *op)
{
    for (int rank = 1; rank < wk_dist_size(); rank++) {
        const int64_t other = all[(int64_t)rank * stride];
        wk__text text = {0};
        if (other == all[0]) continue;
        wk__text_format(&text, "%s: checkpoints differ: rank 0 has ", op);
        describe(all[0], &text);
        wk__text_format(&text, ", rank %d has ", rank);
        describe(other, &text);
        wk__text_add(&text, "; pass the same kinds of objects to wk_checkpoint_new on all ranks");
        wk__error_set_text(site, WK_ERR_STATE, &text);
        return false;
    }
    return true;
}
