/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which job a process belongs to, for all combinations of environment variables. */
#include "support/wick.h"

#include "distributed/settings.h"

enum { MOST = 24 };

/* Environment, "NAME=value" each. */
static const char *const *environment;

static const char *variable_of(void *user, const char *name)
{
    (void)user;
    const size_t length = strlen(name);
    for (int k = 0; k < MOST && environment[k]; k++)
        if (strncmp(environment[k], name, length) == 0 && environment[k][length] == '=')
            return environment[k] + length + 1;
    return NULL;
}

typedef struct row {
    const char *set[MOST];
    bool mpi;          /* an MPI transport is available */
    const char *wrong; /* NULL: valid, with these settings */
    wk__dist_transport_id transport;
    int rank, size, local;
    const char *host;
    int port;
} row;

#define OMPI(rank, size) "OMPI_COMM_WORLD_RANK=" #rank, "OMPI_COMM_WORLD_SIZE=" #size, "OMPI_COMM_WORLD_LOCAL_RANK=1"
#define PMI(rank, size)  "PMI_RANK=" #rank, "PMI_SIZE=" #size, "MPI_LOCALRANKID=2"
#define SLURM_(rank, n)  "SLURM_PROCID=" #rank, "SLURM_NTASKS=" #n, "SLURM_LOCALID=0", "SLURM_JOB_ID=100003"
#define NODES            "SLURM_STEP_NODELIST=node[07-09],gpu1"
#define BY_HAND(rank, n) "WICK_RANK=" #rank, "WICK_WORLD_SIZE=" #n
#define TORCH(rank, n)   "RANK=" #rank, "WORLD_SIZE=" #n, "LOCAL_RANK=1", "MASTER_ADDR=10.0.0.7"
#define ALONE            .transport = WK__DIST_SELF, .size = 1, .local = -1

static const row rows[] = {
    {{NULL}, ALONE},
    {{"WICK_COORDINATOR=a:1"}, ALONE},
    {{"RANK=3"}, ALONE}, /* a variable of another program */
    {{"WORLD_SIZE=3"}, ALONE},
    /* by hand */
    {{BY_HAND(1, 4), "WICK_COORDINATOR=nodeA:29500"}, false, NULL, WK__DIST_TCP, 1, 4, -1, "nodeA", 29500},
    {{BY_HAND(3, 4), "WICK_COORDINATOR=10.1.2.3:7,b:8", "WICK_LOCAL_RANK=1"},
     false,
     NULL,
     WK__DIST_TCP,
     3,
     4,
     1,
     "10.1.2.3",
     7},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=[::1]:65535"}, false, NULL, WK__DIST_TCP, 0, 2, -1, "::1", 65535},
    {{BY_HAND(0, 2), "WICK_LISTEN_FD=9"}, false, NULL, WK__DIST_TCP, 0, 2, -1, "", 0},
    {{BY_HAND(1, 2), "WICK_LISTEN_FD=9"}, .wrong = "WICK_COORDINATOR (host:port of rank 0) is not"},
    {{BY_HAND(0, 1)}, ALONE},
    {{BY_HAND(0, 1), "WICK_COMM=tcp"}, ALONE},
    {{BY_HAND(2, 4), "WICK_COMM=self"}, ALONE},
    {{"WICK_RANK=1"}, .wrong = "WICK_RANK is set but WICK_WORLD_SIZE is not"},
    {{"WICK_WORLD_SIZE=2"}, .wrong = "WICK_WORLD_SIZE is set but WICK_RANK is not"},
    {{BY_HAND(1, 2)}, .wrong = "WICK_RANK and WICK_WORLD_SIZE are set, but WICK_COORDINATOR"},
    {{BY_HAND(2, 2), "WICK_COORDINATOR=a:1"}, .wrong = "WICK_RANK is \"2\"; expected an integer from 0 to 1"},
    {{BY_HAND(-1, 2), "WICK_COORDINATOR=a:1"}, .wrong = "WICK_RANK is \"-1\"; expected an integer from 0 to 1"},
    {{BY_HAND(one, 2), "WICK_COORDINATOR=a:1"}, .wrong = "WICK_RANK is \"one\""},
    {{BY_HAND(1x, 2), "WICK_COORDINATOR=a:1"}, .wrong = "WICK_RANK is \"1x\""},
    {{BY_HAND(0, 0)}, .wrong = "WICK_WORLD_SIZE is \"0\"; expected an integer from 1 to 1024"},
    {{BY_HAND(0, 1025), "WICK_COORDINATOR=a:1"}, .wrong = "WICK_WORLD_SIZE is \"1025\""},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a:1", "WICK_LOCAL_RANK=-2"}, .wrong = "WICK_LOCAL_RANK is \"-2\""},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a:1", "WICK_LISTEN_FD=x"}, .wrong = "WICK_LISTEN_FD is \"x\""},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a:1", "WICK_TIMEOUT=0"}, .wrong = "WICK_TIMEOUT is \"0\""},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a"}, .wrong = "WICK_COORDINATOR is \"a\"; expected host:port"},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a:0"}, .wrong = "expected host:port"},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a:65536"}, .wrong = "expected host:port"},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=a:1x,b:2"}, .wrong = "expected host:port"},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=:5"}, .wrong = "expected host:port"},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=::1:5"}, .wrong = "expected host:port"},
    {{BY_HAND(0, 2), "WICK_COORDINATOR=[]:5"}, .wrong = "expected host:port"},
    {{"WICK_COMM=udp"}, .wrong = "WICK_COMM is \"udp\"; expected self, tcp or mpi"},
    {{"WICK_COMM=tcp"}, .wrong = "requires WICK_RANK, WICK_WORLD_SIZE and WICK_COORDINATOR"},
    {{"WICK_COMM=mpi"}, .wrong = "no MPI here"},
    {{"WICK_COMM=mpi"}, true, NULL, WK__DIST_MPI, 0, 1, -1, "", 0},
    /* MPI */
    {{OMPI(1, 4)}, true, NULL, WK__DIST_MPI, 1, 4, 1, "", 0},
    {{PMI(3, 4)}, true, NULL, WK__DIST_MPI, 3, 4, 2, "", 0},
    {{OMPI(1, 4)}, .wrong = "no MPI here"},
    {{PMI(1, 4)}, .wrong = "no MPI here"},
    {{OMPI(0, 1)}, .transport = WK__DIST_SELF, .size = 1, .local = 1},
    {{OMPI(0, 1)}, true, NULL, WK__DIST_SELF, 0, 1, 1, "", 0},
    {{OMPI(1, 4), BY_HAND(0, 9)}, true, NULL, WK__DIST_MPI, 1, 4, 1, "", 0},
    {{OMPI(1, 4), "WICK_COMM=tcp", "WICK_COORDINATOR=a:5"}, true, NULL, WK__DIST_TCP, 1, 4, 1, "a", 5},
    {{OMPI(1, 4), "WICK_COMM=tcp"},
     true,
     .wrong = "OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE are set, but WICK_COORDINATOR"},
    {{OMPI(1, 4), "WICK_COMM=self"}, true, NULL, ALONE},
    {{OMPI(4, 4)}, true, .wrong = "OMPI_COMM_WORLD_RANK is \"4\""},
    /* Slurm */
    {{SLURM_(1, 4), NODES}, false, NULL, WK__DIST_TCP, 1, 4, 0, "node07", 15000 + 100003 % 15000},
    {{SLURM_(1, 4), "SLURM_STEP_NODELIST=gpu[1,3]"}, false, NULL, WK__DIST_TCP, 1, 4, 0, "gpu1", 25003},
    {{SLURM_(1, 4), "SLURM_STEP_NODELIST=?[", "SLURM_JOB_NODELIST=node7"},
     false,
     NULL,
     WK__DIST_TCP,
     1,
     4,
     0,
     "node7",
     25003},
    {{SLURM_(1, 4), "SLURM_STEP_NODELIST=?[", "SLURM_LAUNCH_NODE_IPADDR=10.0.0.1"},
     false,
     NULL,
     WK__DIST_TCP,
     1,
     4,
     0,
     "10.0.0.1",
     25003},
    {{SLURM_(1, 4), NODES, "WICK_COORDINATOR=x:9"}, false, NULL, WK__DIST_TCP, 1, 4, 0, "x", 9},
    {{SLURM_(1, 4), "SLURM_STEP_NODELIST=?["}, .wrong = "neither SLURM_JOB_NODELIST nor SLURM_LAUNCH_NODE_IPADDR"},
    {{SLURM_(0, 4), "SLURM_JOB_NODELIST=node7"}, ALONE}, /* a batch script that was not started by srun */
    {{SLURM_(0, 1), NODES}, .transport = WK__DIST_SELF, .size = 1, .local = 0},
    {{SLURM_(1, 4), NODES, PMI(2, 5)}, false, NULL, WK__DIST_TCP, 1, 4, 0, "node07", 25003},
    {{SLURM_(1, 4), NODES, PMI(2, 5)}, true, NULL, WK__DIST_MPI, 2, 5, 2, "", 0},
    {{SLURM_(1, 4), NODES, PMI(2, 5), "WICK_COMM=tcp"}, true, NULL, WK__DIST_TCP, 2, 5, 2, "node07", 25003},
    {{SLURM_(1, 4), NODES, BY_HAND(0, 2)}, false, NULL, WK__DIST_TCP, 1, 4, 0, "node07", 25003},
    {{"SLURM_PROCID=0", NODES, "SLURM_JOB_ID=7"}, ALONE},
    /* torchrun */
    {{TORCH(1, 4), "MASTER_PORT=29400"}, false, NULL, WK__DIST_TCP, 1, 4, 1, "10.0.0.7", 29400},
    {{TORCH(1, 4)}, false, NULL, WK__DIST_TCP, 1, 4, 1, "10.0.0.7", 29500},
    {{TORCH(1, 4), "MASTER_PORT=29400", "TORCHELASTIC_USE_AGENT_STORE=True"},
     false,
     NULL,
     WK__DIST_TCP,
     1,
     4,
     1,
     "10.0.0.7",
     29401},
    {{TORCH(1, 4), "TORCHELASTIC_USE_AGENT_STORE=False"}, false, NULL, WK__DIST_TCP, 1, 4, 1, "10.0.0.7", 29500},
    {{TORCH(1, 4), BY_HAND(0, 2), "WICK_COORDINATOR=a:5"}, false, NULL, WK__DIST_TCP, 0, 2, -1, "a", 5},
    {{"RANK=0", "WORLD_SIZE=2"}, .wrong = "MASTER_ADDR (the host of rank 0) is not"},
    {{TORCH(0, 2), "MASTER_PORT=x"}, .wrong = "MASTER_PORT is \"x\""},
    {{TORCH(0, 1)}, .transport = WK__DIST_SELF, .size = 1, .local = 1},
    {{TORCH(x, 2)}, .wrong = "RANK is \"x\""},
    /* an empty variable counts as unset */
    {{"WICK_RANK=", "WICK_WORLD_SIZE=", "WICK_COMM=", "WICK_TIMEOUT="}, ALONE},
};

static void expect_row(const row *r)
{
    wk__dist_settings s;
    wk__text why = {0};
    environment = r->set;
    const wk_code code = wk__dist_settings_read(variable_of, NULL, r->mpi, "no MPI here", &s, &why);
    const char *text = why.data ? why.data : "";
    const int number = (int)(r - rows);
    if (r->wrong) {
        if (code != WK_ERR_ARGUMENT || !strstr(text, r->wrong)) fail_msg("row %d: code %d, %s", number, code, text);
    } else if (code != WK_OK) {
        fail_msg("row %d: %s", number, text);
    } else if (s.transport != r->transport || s.rank != r->rank || s.size != r->size || s.local_rank != r->local ||
               (r->transport == WK__DIST_TCP && (strcmp(s.host, r->host) != 0 || s.port != r->port))) {
        fail_msg("row %d: transport %d, rank %d of %d, local %d, %s port %d", number, s.transport, s.rank, s.size,
                 s.local_rank, s.host, s.port);
    }
    wk__text_free(&why);
}

static void settings_from_the_environment(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) expect_row(&rows[k]);
}

static void optional_variables(void **state)
{
    (void)state;
    wk__dist_settings s;
    wk__text why = {0};
    static const char *const usual[MOST] = {BY_HAND(0, 2), "WICK_COORDINATOR=a:1"};
    environment = usual;
    assert_int_equal(wk__dist_settings_read(variable_of, NULL, false, "", &s, &why), WK_OK);
    assert_true(s.timeout == 600 && s.listen_fd == -1);
    assert_string_equal(s.secret, "");
    static const char *const more[MOST] = {BY_HAND(0, 2), "WICK_COORDINATOR=a:1", "WICK_TIMEOUT=7", "WICK_LISTEN_FD=5",
                                           "WICK_SECRET=between us"};
    environment = more;
    assert_int_equal(wk__dist_settings_read(variable_of, NULL, false, "", &s, &why), WK_OK);
    assert_true(s.timeout == 7 && s.listen_fd == 5 && s.port == 1);
    assert_string_equal(s.secret, "between us");
    assert_string_equal(s.source, "WICK_RANK");
}

/* The number of started ranks, whether or not they can join. */
static void number_of_started_ranks(void **state)
{
    static const struct {
        const char *set[MOST];
        int processes;
        const char *variable;
    } cases[] = {{{NULL}, 1, NULL},
                 {{"WICK_WORLD_SIZE=4"}, 1, NULL},
                 {{BY_HAND(1, 4)}, 4, "WICK_WORLD_SIZE"},
                 {{BY_HAND(1, 4), "WICK_COMM=self"}, 1, NULL},
                 {{BY_HAND(9, 4), "WICK_COMM=tpc", "WICK_TIMEOUT=x"}, 4, "WICK_WORLD_SIZE"},
                 {{BY_HAND(0, 1)}, 1, "WICK_WORLD_SIZE"},
                 {{OMPI(1, 10)}, 10, "OMPI_COMM_WORLD_SIZE"},
                 {{PMI(2, 20)}, 20, "PMI_SIZE"},
                 {{SLURM_(3, 30)}, 1, NULL}, /* a batch script */
                 {{SLURM_(3, 30), NODES}, 30, "SLURM_NTASKS"},
                 {{"RANK=0", "WORLD_SIZE=2"}, 2, "WORLD_SIZE"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *variable = NULL;
        environment = cases[k].set;
        assert_int_equal(wk__dist_launched_size(variable_of, NULL, &variable), cases[k].processes);
        if (cases[k].variable) assert_string_equal(variable, cases[k].variable);
        assert_true(!variable == !cases[k].variable);
    }
}

/* Every set of starters, each with complete variables: the first in the order of dist.h counts. */
static void all_starters_at_once(void **state)
{
    static const char *const of[5][5] = {
        {OMPI(1, 10)}, {PMI(2, 20)}, {SLURM_(3, 30), NODES}, {BY_HAND(4, 40)}, {TORCH(5, 50)}};
    static const int size[5] = {10, 20, 30, 40, 50};
    (void)state;
    for (int mpi = 0; mpi < 2; mpi++)
        for (unsigned set = 1; set < 32; set++) {
            const char *names[MOST] = {"WICK_COORDINATOR=a:5"};
            int n = 1, first = -1;
            wk__dist_settings s;
            wk__text why = {0};
            for (int k = 4; k >= 0; k--) {
                if (!(set >> k & 1)) continue;
                for (int v = 0; v < 5 && of[k][v]; v++) names[n++] = of[k][v];
                if (k > 1 || mpi || !(set & 4)) first = k; /* without an MPI transport, Slurm's count */
            }
            environment = names;
            const wk_code code = wk__dist_settings_read(variable_of, NULL, mpi != 0, "no MPI here", &s, &why);
            if (first < 2 && !mpi)
                assert_int_equal(code, WK_ERR_ARGUMENT);
            else if (code != WK_OK || s.size != size[first] || s.transport != (first < 2 ? WK__DIST_MPI : WK__DIST_TCP))
                fail_msg("set %u, mpi %d: size %d, not %d: %s", set, mpi, s.size, size[first], why.data);
            wk__text_free(&why);
        }
}

static void hosts_of_slurm(void **state)
{
    static const struct {
        const char *list, *first;
    } cases[] = {{"node1", "node1"},
                 {"node1,node2", "node1"},
                 {"node[003-010,012],x", "node003"},
                 {"n[1,4]", "n1"},
                 {"rack2-n[08]", "rack2-n08"},
                 {"[1-2]", "1"},
                 {"", NULL},
                 {"n[]", NULL},
                 {"n[a-b]", NULL},
                 {"verylongname", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char host[10] = "";
        assert_true(wk__dist_first_host(cases[k].list, host, sizeof host) == (cases[k].first != NULL));
        if (cases[k].first) assert_string_equal(host, cases[k].first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_from_the_environment),
        cmocka_unit_test(optional_variables),
        cmocka_unit_test(number_of_started_ranks),
        cmocka_unit_test(all_starters_at_once),
        cmocka_unit_test(hosts_of_slurm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
