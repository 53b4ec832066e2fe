/* SPDX-License-Identifier: Apache-2.0 */
/* Prints programs of several threads as C: the steps of a thread between two synchronisations are a function, and main
 * runs these in workers (workers.c, which the program includes). If the thread ends within them, the remaining steps
 * are a second function. */
#include "executor.h"
#include "print.h"

/* Declares variables, which functions share. */
static void declare(FILE *out, const program *p)
{
    for (int k = 0; k < p->steps; k++) {
        const step *s = &p->step[k];
        for (int r = 0; r < s->results && !s->removed; r++) fprintf(out, "static wk_tensor *t%d;\n", s->out + r);
        if (!s->removed && (s->kind == STEP_SCOPE || s->kind == STEP_NO_GRAD))
            fprintf(out, "static wk_guard g%d;\n", s->guard);
    }
}

/* Returns the thread's first step in [from, to), or -1. */
static int first_step(const program *p, int thread, int from, int to)
{
    while (from < to && (p->step[from].removed || p->step[from].thread != thread)) from++;
    return from < to ? from : -1;
}

/* Prints the functions of the thread for these steps, the first one last: part_FROM. */
static void print_thread(FILE *out, const program *p, int thread, int from, int to)
{
    int end = from;
    while (end < to &&
           (p->step[end].removed || p->step[end].thread != thread || p->step[end].kind != STEP_THREAD_RESTART))
        end++;
    const bool ends = end < to;
    const bool rests = end + 1 < to; /* otherwise the new thread has no steps before the next synchronisation */
    if (ends && rests) print_thread(out, p, thread, end + 1, to);
    if (ends && !rests) fprintf(out, "static void rest_%d_%d(void *user)\n{\n    (void)user;\n}\n", thread, end + 1);
    fprintf(out, "static void part_%d_%d(void *user)\n{\n", thread, from);
    const bool anew = from > 0 && p->step[from - 1].kind == STEP_THREAD_RESTART && p->step[from - 1].thread == thread;
    if (anew) fprintf(out, "    wk_scope_open(WK_HERE);\n");
    for (int k = from; k < end; k++)
        if (!p->step[k].removed && p->step[k].thread == thread) print_step(out, &p->step[k], true);
    if (ends)
        fprintf(out, "    workers_replace_thread(%s_%d_%d, user); /* this thread ends */\n", rests ? "part" : "rest",
                thread, end + 1);
    fputs(ends ? "}\n" : "    (void)user;\n}\n", out);
}

/* The threads observe the remaining tensors in turn, as in executor_observe_end. */
static void print_looks(FILE *out, const program *p)
{
    int order[MOST_SLOTS], thread[MOST_SLOTS] = {0};
    program_order(p, order);
    for (int k = 0; k < p->steps; k++)
        for (int r = 0; r < p->step[k].results; r++) thread[p->step[k].out + r] = p->step[k].thread;
    for (int own = 0; own < p->threads; own++) {
        fprintf(out, "static void look_%d(void *user)\n{\n    (void)user;\n", own);
        for (int k = 0; k < p->slots; k++)
            if (thread[order[k]] == own) print_left(out, p, order[k]);
        fputs("}\n", out);
    }
}

/* Returns the end of the steps up to a synchronisation or, without concurrency, of one thread. */
static int end_of_part(const program *p, int from)
{
    int to = from + 1;
    while (to < p->steps && (p->concurrent ? !p->step[to].sync_before : p->step[to].thread == p->step[from].thread))
        to++;
    return to;
}

static void print_main(FILE *out, const program *p)
{
    fputs("static void run(void *part)\n{\n    (*(worker_job *const *)part)(NULL);\n}\n"
          "static void together(worker_job *const part[])\n{\n    void *user[MOST_THREADS];\n"
          "    for (int k = 0; k < MOST_THREADS; k++) user[k] = part[k] ? (void *)&part[k] : NULL;\n"
          "    workers_run_all(MOST_THREADS, run, user);\n}\n"
          "static void begin(void *user)\n{\n    (void)user;\n    wk_scope_open(WK_HERE);\n}\n"
          "int main(void)\n{\n",
          out);
    for (int k = 0; k < p->threads; k++) fprintf(out, "    workers_run(%d, begin, NULL);\n", k);
    for (int from = 0, to; from < p->steps; from = to) {
        to = end_of_part(p, from);
        fputs("    together((worker_job *[MOST_THREADS]){", out);
        for (int k = 0; k < p->threads; k++)
            if (first_step(p, k, from, to) >= 0) fprintf(out, "[%d] = part_%d_%d, ", k, k, from);
        fputs("});\n", out);
    }
    for (int k = 0; k < p->threads; k++)
        fprintf(out, "    workers_run(%d, look_%d, NULL);\n", program_looker(p, k), program_looker(p, k));
    fputs("    return wk_report_error(stdout);\n}\n", out);
}

void print_threads(FILE *out, const program *p)
{
    fputs("#include \"random/generator/workers.c\"\n", out);
    declare(out, p);
    for (int from = 0, to; from < p->steps; from = to) {
        to = end_of_part(p, from);
        for (int k = 0; k < p->threads; k++)
            if (first_step(p, k, from, to) >= 0) print_thread(out, p, k, from, to);
    }
    print_looks(out, p);
    print_main(out, p);
}
