/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be done, and what depends on it. A command that fails leaves the pieces of memory that it was
 * to write lost; one that reads a lost piece is left out, and its own are lost with the same cause; writing a
 * piece anew finds it again.
 *
 *     y = exp(x)       the compiler refuses it      y lost: "exp: the device's compiler refused ..."
 *     z = y + 1        reads y: left out            z lost, the same cause
 *     w.add_(z)        reads z: left out            w keeps its numbers
 *     y' = x, at y     writes all of y's piece      y' is good
 *
 * So each reader gets the first cause, and what does not depend on it is well. As long as nothing has failed this costs
 * one look at an empty list. Nothing here needs memory but the words of a cause: the commands that failed are the list
 * of what is lost, the causes, and the list of those who have to hear of them. Only the device's own thread uses it. */
#include "device.h"

#include <string.h>

/* ---- causes ------------------------------------------------------------------------------------------------------ */

/* As long as it is held, so is the command that it is part of. */
static wk__cl_cause *hold(wk__cl_cause *cause)
{
    if (cause->refs++ == 0 && cause->command != NULL) cause->command->marks++;
    return cause;
}

static void unmark(wk__cl_command *command)
{
    if (--command->marks == 0) wk__cl_command_free(command);
}

static void drop(wk__cl_cause *cause)
{
    if (cause == NULL || --cause->refs > 0) return;
    wk__cl_command *command = cause->command, *listener = cause->listeners;
    wk__free(cause->words);
    wk__origin_drop(cause->origin);
    *cause = (wk__cl_cause){.refs = 0};
    for (wk__cl_command *next; listener != NULL; listener = next) {
        next = listener->next_listener;
        unmark(listener);
    }
    if (command != NULL) unmark(command);
}

/* A cause comes into being, held. */
static wk__cl_cause *begin(wk__cl_cause *cause, wk__cl_command *command, const wk__fail *fail, wk__origin *origin)
{
    *cause = (wk__cl_cause){.command = command, .code = fail->code, .words = wk__strdup(fail->text)};
    cause->origin = wk__origin_hold(origin);
    return hold(cause);
}

void wk__cl_explain(const wk__cl_cause *cause, wk__fail *fail)
{
    wk__fail_set(fail, cause->code, "%s",
                 cause->words ? cause->words : "it could not be run, and there was no host memory to note down why");
    fail->origin = wk__origin_hold(cause->origin);
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
    drop(cause);
}

/* Whoever noticed nothing, as a target of theirs just kept its numbers: once, however many there are of them. */
static void add_listener(wk__cl_device *device, wk__cl_cause *cause, wk__cl_command *command)
{
    const wk__origin *origin = command->origin;
    if (origin == NULL || (cause->origin != NULL && cause->origin->who == origin->who)) return;
    wk__cl_command **end = &cause->listeners;
    for (; *end != NULL; end = &(*end)->next_listener)
        if ((*end)->origin->who == origin->who) return;
    *end = command;
    command->next_listener = NULL;
    command->marks++;
    if (cause->waiting == NULL) cause->waiting = command;
    list(device, cause);
}

wk_code wk__cl_tell(wk__cl_device *device, wk__cl_cause *cause, wk__fail *fail)
{
    wk__cl_explain(cause, fail);
    fail->lost = true;
    if (!cause->told) {
        cause->told = true;
        fail->whom = wk__origin_hold(cause->origin);
    } else if (cause->waiting != NULL) {
        fail->whom = wk__origin_hold(cause->waiting->origin);
        cause->waiting = cause->waiting->next_listener;
    }
    if (cause->listed && cause->waiting == NULL) unlist(device, cause);
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
    drop(use->cause);
    use->cause = NULL;
    unmark(use->command);
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

/* The command itself has failed: it is the cause, with whatever it was handed from another device, where that
 * is told. */
static wk__cl_cause *cause_after(wk__cl_device *device, wk__cl_command *command, const wk__fail *fail)
{
    wk__cl_cause *cause = begin(&command->cause, command, fail, command->handed ? fail->origin : command->origin);
    cause->told = cause->origin != NULL && command->handed;
    if (!cause->told) list(device, cause);
    if (cause->code == WK_ERR_LOST && !command->handed && device->gone == NULL) device->gone = hold(cause);
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
        add_listener(device, cause, command);
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

/* Commands of one call stand together in the queue, so what is known of the last one is known of this call. */
static bool is_over(wk__cl_device *device, const wk__cl_command *command)
{
    if (command->first) device->wrote = device->broken = false;
    return device->gone != NULL || device->broken;
}

static void fail_command(wk__cl_device *device, wk__cl_command *command, wk__cl_cause *cause)
{
    device->broken = true;
    if (device->gone == NULL) leave_out(device, command, cause);
    drop(cause);
}

static void perform(wk__cl_device *device, wk__cl_command *command)
{
    if (is_over(device, command) && !command->always) return;
    wk__cl_cause *cause = cause_before(device, command);
    if (cause != NULL) {
        if (cause->origin == NULL && !cause->told) /* a copy's: of the call that needs it */
            cause->origin = wk__origin_hold(command->origin);
        fail_command(device, command, hold(cause));
        return;
    }
    wk__fail fail = {.tag = -1};
    if (command->perform(device, command, &fail) != WK_OK) {
        fail_command(device, command, cause_after(device, command, &fail));
        wk__fail_end(&fail);
        return;
    }
    device->wrote = device->wrote || command->writes;
    if (device->lost != NULL && command->first) write_anew(device, command);
}

bool wk__cl_perform_unwatched(wk__cl_device *device, wk__cl_command *command)
{
    command->marks++; /* it stays until this returns */
    perform(device, command);
    return --command->marks > 0;
}

void wk__cl_gone(wk__cl_device *device, const wk__fail *fail)
{
    if (device->gone != NULL) return;
    device->gone = begin(&device->gave_up, NULL, fail, NULL);
    list(device, device->gone);
}

void wk__cl_lost_end(wk__cl_device *device)
{
    while (device->lost != NULL) find_again(&device->lost);
    while (device->untold != NULL) unlist(device, device->untold);
    drop(device->gone);
}
