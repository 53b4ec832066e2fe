/* SPDX-License-Identifier: Apache-2.0 */
/* Listing and removing retained files; see checkpoint_retention.h. */
#include "checkpoint_retention.h"
#include "base/alloc.h"
#include <dirent.h>
#include <string.h>
#include <unistd.h>

char *wk__checkpoint_retained_path(const char *place, int64_t step)
{
    wk__text name = {0};
    wk__text_format(&name, "%s.%lld", place, (long long)step);
    if (!name.failed) return name.data;
    wk__text_free(&name);
    return NULL;
}

/* Returns the step in "run.wick.120" for "run.wick"; -1 if the name is not of this form. */
static int64_t step_of(const char *name, const char *file)
{
    const size_t length = strlen(file);
    if (strncmp(name, file, length) != 0 || name[length] != '.') return -1;
    const wk__metadata_entry alone = {"", name + length + 1};
    return wk__metadata_find_int(&alone, 1, "");
}

/* Opens the folder of a file. */
static DIR *open_dir_of(const char *place, const char *file)
{
    wk__text folder = {0};
    wk__text_add_n(&folder, place, file - place);
    if (file == place) wk__text_add(&folder, ".");
    DIR *entries = folder.failed ? NULL : opendir(folder.data);
    wk__text_free(&folder);
    return entries;
}

/* Inserts a step into the sorted list. */
static bool insert(int64_t **steps, int64_t *count, int64_t *capacity, int64_t step)
{
    if (!wk__grow(steps, capacity, *count + 1, sizeof **steps)) return false;
    int64_t at = (*count)++;
    for (; at > 0 && (*steps)[at - 1] < step; at--) (*steps)[at] = (*steps)[at - 1];
    (*steps)[at] = step;
    return true;
}

int64_t wk__checkpoint_retained_steps(const char *place, int64_t **steps)
{
    const char *slash = strrchr(place, '/'), *file = slash ? slash + 1 : place;
    DIR *entries = open_dir_of(place, file);
    int64_t count = 0, capacity = 0;
    bool fine = true;
    *steps = NULL;
    for (const struct dirent *entry; entries && fine && (entry = readdir(entries)) != NULL;) {
        const int64_t step = step_of(entry->d_name, file);
        if (step >= 0) fine = insert(steps, &count, &capacity, step);
    }
    if (entries) closedir(entries);
    if (fine) return count;
    wk__free(*steps);
    *steps = NULL;
    return -1;
}

static void remove_step(const char *place, int64_t step)
{
    char *name = wk__checkpoint_retained_path(place, step);
    if (name) unlink(name);
    wk__free(name);
}

/* Files of later steps belong to an abandoned run that continued from an earlier file. */
static void prune(const char *place, int64_t step, int keep)
{
    int64_t *steps;
    const int64_t count = wk__checkpoint_retained_steps(place, &steps);
    int kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (steps[k] > step || ++kept > keep) remove_step(place, steps[k]);
    wk__free(steps);
}

wk_code wk__checkpoint_retain(wk__checkpoint_file *content, const char *place, int64_t step, int keep,
                              wk__io_error *error)
{
    char *name = wk__checkpoint_retained_path(place, step);
    if (!name) return wk__io_fail(error, WK_ERR_MEMORY, "%s: out of host memory", wk__printable_name(place).text);
    /* File systems without hard links get a second copy. */
    unlink(name);
    const wk_code code = link(place, name) == 0 ? WK_OK : wk__checkpoint_file_write(content, name, NULL, error);
    if (code == WK_OK) prune(place, step, keep);
    wk__free(name);
    return code;
}
