/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest path across a frozen lake of 4 x 4 fields: by value iteration, which uses the rules of the game, and by
 * Q-learning, which uses episodes. Dive into Deep Learning, Reinforcement Learning.
 *
 *     frozen_lake [DEVICE [EPISODES [SVG [SEED]]]]
 *
 * Value iteration computes the values of all fields at once, with tensors; Q-learning updates single numbers, in C. */
#include "run.h"

enum { SIDE = 4, FIELDS = SIDE * SIDE, ACTIONS = 4, ITERATIONS = 10, MOST_MOVES = 100 };
static const double discount = 0.95, alpha = 0.9, epsilon = 0.9;
/* Rows of fields: S start, F frozen, H hole, G goal. Holes and the goal end an episode. */
static const char lake[] = "SFFFFHFHFFFHHFFG";
static const char *const arrows[ACTIONS] = {"<", "v", ">", "^"};

/* Returns the field to which an action leads: 0 left, 1 down, 2 right, 3 up. */
static int next_field(int field, int action)
{
    const int row = field / SIDE, column = field % SIDE;
    if (lake[field] == 'H' || lake[field] == 'G') return field;
    if (action == 0) return column ? field - 1 : field;
    if (action == 1) return row < SIDE - 1 ? field + SIDE : field;
    if (action == 2) return column < SIDE - 1 ? field + 1 : field;
    return row ? field - SIDE : field;
}

static double reward(int field, int action)
{
    return lake[field] != 'G' && lake[next_field(field, action)] == 'G' ? 1 : 0;
}

/* Prints the value of the best action of each field, and the action as an arrow. q is f64 (FIELDS, ACTIONS). Returns
 * the value of the start. */
static double show(const char *name, wk_tensor *q)
{
    WK_SCOPE;
    double value[FIELDS];
    int64_t best[FIELDS];
    wk_read(wk_amax(q, (1)), value, sizeof value);
    wk_read(wk_argmax(q, 1), best, sizeof best);
    printf("%s:\n", name);
    for (int k = 0; k < FIELDS; k++) {
        const bool end = lake[k] == 'H' || lake[k] == 'G';
        printf("  %.3f %s%s", value[k], end ? (char[]){lake[k], 0} : arrows[best[k]], k % SIDE == SIDE - 1 ? "\n" : "");
    }
    return value[0];
}

/* Returns Q (FIELDS, ACTIONS) after ITERATIONS updates Q(s, a) = r(s, a) + discount max_b Q(s', b). */
static wk_tensor *value_iteration(void)
{
    int64_t after[FIELDS * ACTIONS];
    double gain[FIELDS * ACTIONS];
    for (int k = 0; k < FIELDS * ACTIONS; k++) {
        after[k] = next_field(k / ACTIONS, k % ACTIONS);
        gain[k] = reward(k / ACTIONS, k % ACTIONS);
    }
    wk_tensor *next = wk_from(after, (FIELDS * ACTIONS)), *r = wk_from(gain, (FIELDS, ACTIONS));
    wk_tensor *q = wk_zeros((FIELDS, ACTIONS), .dtype = WK_F64);
    for (int k = 0; k < ITERATIONS; k++) {
        wk_tensor *value = wk_index_select(wk_amax(q, (1)), 0, next);
        q = wk_add(r, wk_mul(wk_reshape(value, (FIELDS, ACTIONS)), discount));
    }
    return q;
}

/* Returns the best action or, with probability epsilon, a random one. exploring, which: random numbers in [0, 1). */
static int choose_action(const double q[ACTIONS], float exploring, float which)
{
    int best = 0;
    for (int a = 1; a < ACTIONS; a++)
        if (q[a] > q[best]) best = a;
    return (double)exploring < epsilon ? (int)(which * ACTIONS) : best;
}

/* Returns Q (FIELDS, ACTIONS) after a number of episodes. */
static wk_tensor *q_learning(int episodes)
{
    static double q[FIELDS][ACTIONS];
    for (int episode = 0; episode < episodes; episode++) {
        WK_SCOPE;
        float random[MOST_MOVES][2];
        wk_read(wk_rand((MOST_MOVES, 2)), random, sizeof random);
        int field = 0;
        for (int move = 0; move < MOST_MOVES && lake[field] != 'H' && lake[field] != 'G'; move++) {
            const int action = choose_action(q[field], random[move][0], random[move][1]);
            const int next = next_field(field, action);
            double best = q[next][0];
            for (int a = 1; a < ACTIONS; a++)
                if (q[next][a] > best) best = q[next][a];
            q[field][action] += alpha * (reward(field, action) + discount * best - q[field][action]);
            field = next;
        }
    }
    return wk_from(&q[0][0], (FIELDS, ACTIONS));
}

int main(int argc, char **argv)
{
    WK_SCOPE;
    const run r = read_run(256, argc, argv);
    const double planned = show("value iteration", value_iteration());
    const double learned = show("Q-learning", q_learning(r.epochs));
    printf("result: value of the start %.4f by value iteration, %.4f by Q-learning\n", planned, learned);
    return wk_report_error(stderr);
}
