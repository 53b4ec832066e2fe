/* SPDX-License-Identifier: Apache-2.0 */
/* Control groups; see cgroup.h. */
#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

int wk__cgroup_numbers(const char *folder, const char *name, int64_t *number, int most)
{
    char path[PATH_SIZE + 64], line[128] = "", *rest = NULL;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    int found = 0;
    if (!fgets(line, sizeof line, file)) line[0] = '\0';
    fclose(file);
    for (char *word = strtok_r(line, " \n", &rest); word && found < most; word = strtok_r(NULL, " \n", &rest)) {
        char *end;
        number[found] = strtoll(word, &end, 10);
        if (end == word) number[found] = -1;
        found++;
    }
    return found;
}

/* Returns true if the comma-separated list contains the controller. */
static bool list_contains(const char *list, const char *controller)
{
    size_t length = strlen(controller);
    for (const char *item = list; *item; item += strspn(item, ",")) {
        size_t count = strcspn(item, ",");
        if (count == length && memcmp(item, controller, length) == 0) return true;
        item += count;
    }
    return false;
}

/* Visits the folder and its ancestors up to the mount. In a container the path is often that of the host, of which only
 * the ancestors nearest to the mount exist. */
static void visit_ancestors(char *folder, size_t mount, bool unified, wk__cgroup_visit *visit, void *user)
{
    for (;;) {
        visit(user, folder, unified);
        char *slash = strrchr(folder + mount, '/');
        if (!slash) return;
        *slash = '\0';
    }
}

/* Lines have the form "number:controllers:/path"; that of cgroup 2 has no controllers. */
void wk__cgroup_each(const char *root, const char *controller, wk__cgroup_visit *visit, void *user)
{
    char path[PATH_SIZE], line[PATH_SIZE];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group) continue;
        *group++ = '\0';
        bool unified = *++list == '\0';
        if (!unified && !list_contains(list, controller)) continue;
        if (strcmp(group, "/") == 0) group++;
        int mount =
            snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s", root, unified ? "" : "/", unified ? "" : controller);
        if (mount < 0 || (size_t)mount >= sizeof path) continue;
        size_t room = sizeof path - (size_t)mount;
        if (snprintf(path + mount, room, "%s", group) < (int)room)
            visit_ancestors(path, (size_t)mount, unified, visit, user);
    }
    fclose(file);
}
