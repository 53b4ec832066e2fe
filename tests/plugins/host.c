/* SPDX-License-Identifier: Apache-2.0 */
/* host LIBRARY TIMES: opens a plug-in, uses it in two threads, closes it while one of them still runs, and forks; again
 * and again. Ends with 0 when that leaves no more behind than the first time did. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct left {
    int threads, mappings, keys; /* that run; of the plug-in; that the process could still make */
} left;

static int lines(const char *path, const char *with)
{
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) count += strstr(line, with) != NULL;
    if (file) fclose(file);
    return count;
}

static int threads_now(void)
{
    int count = 0;
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "Threads: %d", &count) == 1) break;
    if (file) fclose(file);
    return count;
}

static int free_keys(void)
{
    static pthread_key_t key[4096];
    int count = 0;
    while (count < 4096 && pthread_key_create(&key[count], NULL) == 0) count++;
    for (int k = 0; k < count; k++) pthread_key_delete(key[k]);
    return count;
}

static left look(const char *library)
{
    const char *name = strrchr(library, '/') ? strrchr(library, '/') + 1 : library;
    return (left){threads_now(), lines("/proc/self/maps", name), free_keys()};
}

typedef struct visitor {
    int (*run)(void);
    int result;
    pthread_barrier_t used, closed;
} visitor;

static void *visit(void *user)
{
    visitor *v = user;
    v->result = v->run();
    pthread_barrier_wait(&v->used);
    pthread_barrier_wait(&v->closed);
    return NULL; /* what the library wanted to do at the thread's end is called now */
}

static int once(const char *library)
{
    void *object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!object) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    visitor v = {.result = 1};
    pthread_t thread;
    *(void **)&v.run = dlsym(object, "plugin_run");
    if (!v.run || v.run() != 0) return 2;
    pthread_barrier_init(&v.used, NULL, 2);
    pthread_barrier_init(&v.closed, NULL, 2);
    if (pthread_create(&thread, NULL, visit, &v) != 0) return 3;
    pthread_barrier_wait(&v.used);
    dlclose(object);
    pthread_barrier_wait(&v.closed);
    pthread_join(thread, NULL);
    int status = 1;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, &status, 0);
    return v.result || status ? 4 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) return 1;
    left first = {0}, last = {0};
    for (int k = 0; k < atoi(argv[2]); k++) {
        const int result = once(argv[1]);
        if (result) {
            fprintf(stderr, "time %d: %d\n", k + 1, result);
            return 1;
        }
        last = look(argv[1]);
        if (k == 0) first = last;
    }
    printf("threads %d -> %d, mappings %d -> %d, keys left %d -> %d\n", first.threads, last.threads, first.mappings,
           last.mappings, first.keys, last.keys);
    return memcmp(&first, &last, sizeof first) != 0;
}
