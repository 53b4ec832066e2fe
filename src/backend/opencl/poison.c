/* SPDX-License-Identifier: Apache-2.0 */
/* Poison tracking after a failed asynchronous command.
 *
 * Memory that a failed command should have written is poisoned. A command that reads it is skipped, and its outputs are
 * poisoned by the same failure. Overwriting an allocation completely clears it.
 *
 *     y = exp(x)       rejected by the compiler     y poisoned: "exp: the device's compiler refused ..."
 *     z = y + 1        reads y: skipped             z poisoned by the same failure
 *     w.add_(z)        reads z: skipped             w keeps its contents
 *     y' = x, at y     overwrites all of y          y' is valid
 *
 * So each reader gets the first failure, and independent work is unaffected. Without failures this costs one check of
 * an empty list per command. Only messages are allocated: the failed commands themselves form the list of poisoned
 * allocations, the failures, and the lists of affected recorders.
 *
 * Threads: worker thread only. */
#include "device.h"

#include <string.h>

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* A reference to a failure also keeps the command that contains it. */
static wk__cl_failure *hold(wk__cl_failure *cause)
{
    if (cause->refs++ == 0 && cause->command != NULL) cause->command->refcount++;
    return cause;
}

static void unmark(wk__cl_command *command)
{
    if (--command->refcount == 0) wk__cl_command_free(command);
}

static void drop(wk__cl_failure *cause)
{
    if (cause == NULL || --cause->refs > 0) return;
    wk__cl_command *command = cause->command, *listener = cause->affected;
    wk__free(cause->message);
    wk__origin_release(cause->origin);
    *cause = (wk__cl_failure){.refs = 0};
    for (wk__cl_command *next; listener != NULL; listener = next) {
        next = listener->next_listener;
        unmark(listener);
    }
    if (command != NULL) unmark(command);
}

/* Initialises a failure, with one reference. */
static wk__cl_failure *failure_init(wk__cl_failure *cause, wk__cl_command *command, const wk__fail *fail,
                                    wk__origin *origin)
{
    *cause = (wk__cl_failure){.command = command, .code = fail->code, .message = wk__strdup(fail->text)};
    cause->origin = wk__origin_retain(origin);
    return hold(cause);
}

void wk__cl_failure_copy(const wk__cl_failure *cause, wk__fail *fail)
{
    wk__fail_set(fail, cause->code, "%s",
                 cause->message ? cause->message : "the command failed (no details: out of host memory)");
    fail->origin = wk__origin_retain(cause->origin);
}

/* ---- reporting --------------------------------------------------------------------------------------------------- */

static void list(wk__cl_device *device, wk__cl_failure *cause)
{
    if (cause->listed) return;
    wk__cl_failure **end = &device->unreported;
    while (*end != NULL) end = &(*end)->next;
    *end = hold(cause);
    cause->next = NULL;
    cause->listed = true;
}

static void unlist(wk__cl_device *device, wk__cl_failure *cause)
{
    wk__cl_failure **link = &device->unreported;
    while (*link != cause) link = &(*link)->next;
    *link = cause->next;
    cause->listed = false;
    drop(cause);
}

/* Adds the recorder of skipped in-place work, whose target merely kept its contents, to those to notify; once per
 * recorder. */
static void add_listener(wk__cl_device *device, wk__cl_failure *cause, wk__cl_command *command)
{
    const wk__origin *origin = command->origin;
    if (origin == NULL || (cause->origin != NULL && cause->origin->recorder_id == origin->recorder_id)) return;
    wk__cl_command **end = &cause->affected;
    for (; *end != NULL; end = &(*end)->next_listener)
        if ((*end)->origin->recorder_id == origin->recorder_id) return;
    *end = command;
    command->next_listener = NULL;
    command->refcount++;
    if (cause->next_to_notify == NULL) cause->next_to_notify = command;
    list(device, cause);
}

wk_code wk__cl_report(wk__cl_device *device, wk__cl_failure *cause, wk__fail *fail)
{
    wk__cl_failure_copy(cause, fail);
    fail->poisoned = true;
    if (!cause->reported) {
        cause->reported = true;
        fail->notify = wk__origin_retain(cause->origin);
    } else if (cause->next_to_notify != NULL) {
        fail->notify = wk__origin_retain(cause->next_to_notify->origin);
        cause->next_to_notify = cause->next_to_notify->next_listener;
    }
    if (cause->listed && cause->next_to_notify == NULL) unlist(device, cause);
    return fail->code;
}

wk_code wk__cl_report_next(wk__cl_device *device, wk__fail *fail)
{
    if (device->unreported == NULL) return WK_OK;
    wk_code code = wk__cl_report(device, device->unreported, fail);
    fail->async = true;
    fail->poisoned = false;
    return code;
}

/* ---- poisoned allocations ---------------------------------------------------------------------------------------- */

static wk__cl_access **find(wk__cl_device *device, cl_mem block, int64_t offset)
{
    wk__cl_access **link = &device->poisoned;
    while (*link != NULL && ((*link)->block != block || (*link)->offset != offset)) link = &(*link)->next;
    return link;
}

static void unpoison(wk__cl_access **link)
{
    wk__cl_access *use = *link;
    *link = use->next;
    drop(use->cause);
    use->cause = NULL;
    unmark(use->command);
}

wk__cl_failure *wk__cl_poison_of(const wk__cl_device *device, cl_mem block, int64_t offset)
{
    if (device->lost != NULL) return device->lost;
    for (const wk__cl_access *use = device->poisoned; use != NULL; use = use->next)
        if (use->block == block && use->offset == offset) return use->cause;
    return NULL;
}

void wk__cl_unpoison(wk__cl_device *device, cl_mem block, int64_t offset)
{
    wk__cl_access **link = find(device, block, offset);
    if (*link != NULL) unpoison(link);
}

void wk__cl_forget_block(wk__cl_device *device, cl_mem block)
{
    for (wk__cl_access **link = &device->poisoned; *link != NULL;) {
        if ((*link)->block == block)
            unpoison(link);
        else
            link = &(*link)->next;
    }
}

static void poison(wk__cl_device *device, wk__cl_access *use, wk__cl_failure *cause)
{
    use->command->refcount++; /* first, because clearing the old poison may drop another reference to this command */
    wk__cl_unpoison(device, use->block, use->offset);
    use->cause = hold(cause);
    use->next = device->poisoned;
    device->poisoned = use;
}

void wk__cl_access_init(wk__cl_command *command, wk__cl_access *use, int how, const wk__memory *piece,
                        const wk__memory *old)
{
    *use = (wk__cl_access){.block = piece->block, .offset = piece->offset, .how = how, .command = command};
    if (old == NULL || old->block == NULL) return;
    use->how |= WK__CL_RESTORES_OLD;
    use->old_block = old->block;
    use->old_offset = old->offset;
    use->bytes = old->bytes < piece->bytes ? old->bytes : piece->bytes;
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

static wk__cl_failure *cause_before(const wk__cl_device *device, const wk__cl_command *command)
{
    if (device->poisoned == NULL) return NULL;
    for (int k = 0; k < command->uses; k++) {
        const wk__cl_access *use = &command->use[k];
        wk__cl_failure *cause = use->how & WK__CL_READS ? wk__cl_poison_of(device, use->block, use->offset) : NULL;
        if (cause != NULL) return cause;
    }
    return NULL;
}

/* Returns the failure of a command that failed itself; if another device passed it on, it is reported there. */
static wk__cl_failure *cause_after(wk__cl_device *device, wk__cl_command *command, const wk__fail *fail)
{
    wk__cl_failure *cause =
        failure_init(&command->cause, command, fail, command->from_peer ? fail->origin : command->origin);
    cause->reported = cause->origin != NULL && command->from_peer;
    if (!cause->reported) list(device, cause);
    if (cause->code == WK_ERR_DEVICE_LOST && !command->from_peer && device->lost == NULL) device->lost = hold(cause);
    return cause;
}

static bool same_piece(const wk__cl_access *use)
{
    return use->old_block == use->block && use->old_offset == use->offset;
}

static bool restore_old(wk__cl_device *device, const wk__cl_access *use)
{
    if (same_piece(use)) return true;
    if (device->lost != NULL || wk__cl_poison_of(device, use->old_block, use->old_offset) != NULL) return false;
    cl_int error = wk__cl.EnqueueCopyBuffer(device->queue, use->old_block, use->block, (size_t)use->old_offset,
                                            (size_t)use->offset, (size_t)use->bytes, 0, NULL, NULL);
    if (error == CL_SUCCESS) wk__cl_unpoison(device, use->block, use->offset);
    return error == CL_SUCCESS;
}

/* First restores targets that keep their contents, which may be in memory that another output would overwrite. */
static void skip_command(wk__cl_device *device, wk__cl_command *command, wk__cl_failure *cause)
{
    bool begun = command->partially_launched || (device->call_wrote && !command->first);
    for (int k = 0; k < command->uses; k++) {
        wk__cl_access *use = &command->use[k];
        if (!(use->how & WK__CL_RESTORES_OLD) || (begun && same_piece(use)) || !restore_old(device, use)) continue;
        use->how = 0;
        add_listener(device, cause, command);
    }
    for (int k = 0; k < command->uses; k++)
        if (command->use[k].how & WK__CL_WRITES) poison(device, &command->use[k], cause);
}

static void unpoison_written(wk__cl_device *device, const wk__cl_command *command)
{
    for (int k = 0; k < command->uses; k++)
        if ((command->use[k].how & (WK__CL_WRITES | WK__CL_READS)) == WK__CL_WRITES)
            wk__cl_unpoison(device, command->use[k].block, command->use[k].offset);
}

/* Commands of one call are adjacent in the queue, so the flags of the previous command belong to the same call. */
static bool call_is_aborted(wk__cl_device *device, const wk__cl_command *command)
{
    if (command->first) device->call_wrote = device->call_failed = false;
    return device->lost != NULL || device->call_failed;
}

static void fail_command(wk__cl_device *device, wk__cl_command *command, wk__cl_failure *cause)
{
    device->call_failed = true;
    if (device->lost == NULL) skip_command(device, command, cause);
    drop(cause);
}

static void perform(wk__cl_device *device, wk__cl_command *command)
{
    if (call_is_aborted(device, command) && !command->always) return;
    wk__cl_failure *cause = cause_before(device, command);
    if (cause != NULL) {
        /* failure of a copy: attributed to the call that needs its result */
        if (cause->origin == NULL && !cause->reported) cause->origin = wk__origin_retain(command->origin);
        fail_command(device, command, hold(cause));
        return;
    }
    wk__fail fail = {.tag = -1};
    if (command->perform(device, command, &fail) != WK_OK) {
        fail_command(device, command, cause_after(device, command, &fail));
        wk__fail_release(&fail);
        return;
    }
    device->call_wrote = device->call_wrote || command->writes;
    if (device->poisoned != NULL && command->first) unpoison_written(device, command);
}

bool wk__cl_perform_async(wk__cl_device *device, wk__cl_command *command)
{
    command->refcount++; /* keeps it until this function returns */
    perform(device, command);
    return --command->refcount > 0;
}

void wk__cl_set_device_lost(wk__cl_device *device, const wk__fail *fail)
{
    if (device->lost != NULL) return;
    device->lost = failure_init(&device->lost_failure, NULL, fail, NULL);
    list(device, device->lost);
}

void wk__cl_poison_destroy(wk__cl_device *device)
{
    while (device->poisoned != NULL) unpoison(&device->poisoned);
    while (device->unreported != NULL) unlist(device, device->unreported);
    drop(device->lost);
}
