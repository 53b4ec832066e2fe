/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be done, and what depends on it. A command that fails leaves the pieces of memory that it was to write lost; one
 * that reads a lost piece is left out, and its own are lost with the same cause; writing a piece anew finds it again.
 *
 *     y = exp(x)       the compiler refuses it      y lost: "exp: the device's compiler refused ..."
 *     z = y + 1        reads y: left out            z lost, the same cause
 *     w.add_(z)        reads z: left out            w keeps its numbers
 *     y' = x, at y     writes all of y's piece      y' is good
 *
 * So each reader gets the first cause, and what does not depend on it is well. As long as nothing has failed this costs one look
 * at an empty list. Nothing here needs memory but a cause: the commands that failed are the list of what is lost. Only the device's
 * own thread uses it. */
#include "device.h"

#include <string.h>

enum { ALSO = 8 };

struct wk__cl_cause {
    int refs;
    wk__fail fail;          /* holds its origin */
    wk__cl_cause *next;     /* that is to be told */
    bool listed, told;      /* is in that list; whoever it happened to has been told */
    wk__origin *also[ALSO]; /* others whose work in place was left out: nobody would notice */
    int also_count, also_told;
};

static wk__cl_cause *hold(wk__cl_cause *cause)
{
    cause->refs++;
    return cause;
}

void wk__cl_cause_drop(wk__cl_cause *cause)
{
    if (cause == NULL || --cause->refs > 0) return;
    wk__fail_end(&cause->fail);
    for (int k = 0; k < cause->also_count; k++) wk__origin_drop(cause->also[k]);
    wk__free(cause);
}

static wk__cl_cause *new_cause(const wk__fail *fail, wk__origin *origin)
{
    wk__cl_cause *cause = wk__alloc_zero(1, sizeof *cause);
    if (cause == NULL) return NULL;
    cause->refs = 1;
    cause->fail = *fail;
    cause->fail.tag = -1; /* tags are those of bad indices */
    cause->fail.origin = wk__origin_hold(origin);
    cause->fail.whom = NULL;
    return cause;
}

wk__cl_cause *wk__cl_cause_copy(const wk__cl_cause *cause)
{
    wk__cl_cause *copy = new_cause(&cause->fail, cause->fail.origin);
    if (copy != NULL) copy->told = true;
    return copy;
}

/* ---- telling ----------------------------------------------------------------------------------------------------- */

static void list(wk__cl_device *device, wk__cl_cause *cause)
{
    if (cause->listed) return;
    wk__cl_cause **end = &device->untold;
    while (*end != NULL) end = &(*end)->next;
    *end = hold(cause);
    cause->next = NULL;
    cause->listed = true;
}

static void unlist(wk__cl_device *device, wk__cl_cause *cause)
{
    wk__cl_cause **link = &device->untold;
    while (*link != cause) link = &(*link)->next;
    *link = cause->next;
    cause->listed = false;
    wk__cl_cause_drop(cause);
}

/* Whoever noticed nothing, as a target of theirs just kept its numbers. */
static void add_listener(wk__cl_device *device, wk__cl_cause *cause, wk__origin *origin)
{
    if (origin == NULL || cause->also_count == ALSO) return;
    if (cause->fail.origin != NULL && cause->fail.origin->who == origin->who) return;
    for (int k = 0; k < cause->also_count; k++)
        if (cause->also[k]->who == origin->who) return;
    cause->also[cause->also_count++] = wk__origin_hold(origin);
    list(device, cause);
}

wk_code wk__cl_tell(wk__cl_device *device, wk__cl_cause *cause, wk__fail *fail)
{
    *fail = cause->fail;
    fail->lost = true;
    wk__origin_hold(fail->origin);
    if (!cause->told) {
        cause->told = true;
        fail->whom = wk__origin_hold(cause->fail.origin);
    } else if (cause->also_told < cause->also_count) {
        fail->whom = wk__origin_hold(cause->also[cause->also_told++]);
    }
    if (cause->listed && cause->also_told == cause->also_count) unlist(device, cause);
    return fail->code;
}

wk_code wk__cl_tell_untold(wk__cl_device *device, wk__fail *fail)
{
    if (device->untold == NULL) return WK_OK;
    wk_code code = wk__cl_tell(device, device->untold, fail);
    fail->elsewhere = true;
    fail->lost = false;
    return code;
}

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static wk__cl_use **find(wk__cl_device *device, cl_mem block, int64_t offset)
{
    wk__cl_use **link = &device->lost;
    while (*link != NULL && ((*link)->block != block || (*link)->offset != offset)) link = &(*link)->next;
    return link;
}

static void find_again(wk__cl_use **link)
{
    wk__cl_use *use = *link;
    *link = use->next;
    wk__cl_cause_drop(use->cause);
    use->cause = NULL;
    if (--use->command->marks == 0) wk__cl_command_free(use->command);
}

wk__cl_cause *wk__cl_lost(const wk__cl_device *device, cl_mem block, int64_t offset)
{
    if (device->gone != NULL) return device->gone;
    for (const wk__cl_use *use = device->lost; use != NULL; use = use->next)
        if (use->block == block && use->offset == offset) return use->cause;
    return NULL;
}

void wk__cl_found(wk__cl_device *device, cl_mem block, int64_t offset)
{
    wk__cl_use **link = find(device, block, offset);
    if (*link != NULL) find_again(link);
}

void wk__cl_forget_block(wk__cl_device *device, cl_mem block)
{
    for (wk__cl_use **link = &device->lost; *link != NULL;) {
        if ((*link)->block == block)
            find_again(link);
        else
            link = &(*link)->next;
    }
}

static void lose(wk__cl_device *device, wk__cl_use *use, wk__cl_cause *cause)
{
    use->command->marks++; /* first: another use of the piece that goes may be this command's, too */
    wk__cl_found(device, use->block, use->offset);
    use->cause = hold(cause);
    use->next = device->lost;
    device->lost = use;
}

void wk__cl_use_of(wk__cl_command *command, wk__cl_use *use, int how, const wk__memory *piece, const wk__memory *old)
{
    *use = (wk__cl_use){.block = piece->block, .offset = piece->offset, .how = how, .command = command};
    if (old == NULL || old->block == NULL) return;
    use->how |= WK__CL_KEEPS;
    use->old_block = old->block;
    use->old_offset = old->offset;
    use->bytes = old->bytes < piece->bytes ? old->bytes : piece->bytes;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static wk__cl_cause *cause_before(const wk__cl_device *device, const wk__cl_command *command)
{
    if (device->lost == NULL) return NULL;
    for (int k = 0; k < command->uses; k++) {
        const wk__cl_use *use = &command->use[k];
        wk__cl_cause *cause = use->how & WK__CL_READS ? wk__cl_lost(device, use->block, use->offset) : NULL;
        if (cause != NULL) return cause;
    }
    return NULL;
}

static wk__cl_cause *cause_after(wk__cl_device *device, const wk__cl_command *command, const wk__fail *fail)
{
    wk__cl_cause *cause = command->cause;
    if (cause == NULL) cause = new_cause(fail, command->origin);
    if (cause == NULL) {
        cause = hold(device->no_memory);
        cause->told = false;
    }
    if (!cause->told) list(device, cause);
    return cause;
}

static bool same_piece(const wk__cl_use *use)
{
    return use->old_block == use->block && use->old_offset == use->offset;
}

static bool put_back(wk__cl_device *device, const wk__cl_use *use)
{
    if (same_piece(use)) return true;
    if (device->gone != NULL || wk__cl_lost(device, use->old_block, use->old_offset) != NULL) return false;
    cl_int error = wk__cl.EnqueueCopyBuffer(device->queue, use->old_block, use->block, (size_t)use->old_offset,
                                            (size_t)use->offset, (size_t)use->bytes, 0, NULL, NULL);
    if (error == CL_SUCCESS) wk__cl_found(device, use->block, use->offset);
    return error == CL_SUCCESS;
}

/* First the targets that keep their numbers, which may lie in what another output was to overwrite. */
static void leave_out(wk__cl_device *device, wk__cl_command *command, wk__cl_cause *cause)
{
    bool begun = command->partly || (device->wrote && !command->first);
    for (int k = 0; k < command->uses; k++) {
        wk__cl_use *use = &command->use[k];
        if (!(use->how & WK__CL_KEEPS) || (begun && same_piece(use)) || !put_back(device, use)) continue;
        use->how = 0;
        add_listener(device, cause, command->origin);
    }
    for (int k = 0; k < command->uses; k++)
        if (command->use[k].how & WK__CL_WRITES) lose(device, &command->use[k], cause);
}

static void write_anew(wk__cl_device *device, const wk__cl_command *command)
{
    for (int k = 0; k < command->uses; k++)
        if ((command->use[k].how & (WK__CL_WRITES | WK__CL_READS)) == WK__CL_WRITES)
            wk__cl_found(device, command->use[k].block, command->use[k].offset);
}

bool wk__cl_perform_unwatched(wk__cl_device *device, wk__cl_command *command)
{
    bool over = device->gone != NULL || (!command->first && command->call == device->broken_call);
    if (over && !command->always) return false;
    if (command->first) device->wrote = false;
    wk__cl_cause *cause = cause_before(device, command);
    if (cause != NULL) {
        hold(cause);
        if (cause->fail.origin == NULL && !cause->told) /* a copy's: of the call that needs it */
            cause->fail.origin = wk__origin_hold(command->origin);
    } else {
        wk__fail fail = {.tag = -1};
        wk_code code = command->perform(device, command, &fail);
        if (code == WK_OK) {
            device->wrote = device->wrote || command->writes;
            if (device->lost != NULL && command->first) write_anew(device, command);
            return false;
        }
        cause = cause_after(device, command, &fail);
        if (code == WK_ERR_LOST && device->gone == NULL) device->gone = hold(cause);
    }
    device->broken_call = command->call;
    if (device->gone == NULL) leave_out(device, command, cause);
    wk__cl_cause_drop(cause);
    return command->marks > 0;
}

void wk__cl_gone(wk__cl_device *device, const wk__fail *fail)
{
    if (device->gone != NULL) return;
    wk__cl_cause *cause = new_cause(fail, NULL);
    if (cause == NULL) cause = hold(device->no_memory);
    device->gone = cause;
    list(device, cause);
}

bool wk__cl_lost_begin(wk__cl_device *device)
{
    wk__fail fail;
    wk__fail_set(&fail, WK_ERR_MEMORY, "out of host memory while work was run");
    device->no_memory = new_cause(&fail, NULL);
    return device->no_memory != NULL;
}

void wk__cl_lost_end(wk__cl_device *device)
{
    while (device->lost != NULL) find_again(&device->lost);
    while (device->untold != NULL) unlist(device, device->untold);
    wk__cl_cause_drop(device->gone);
    wk__cl_cause_drop(device->no_memory);
}
