/* How this process runs what it records, as its environment says. */
#include "ring.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static wk__modes modes;
static pthread_once_t modes_once = PTHREAD_ONCE_INIT;
static atomic_bool modes_ready;

static bool set(const char *name)
{
    const char *text = getenv(name);
    return text && text[0] && strcmp(text, "0") != 0;
}

static void read_modes(void)
{
    modes.sync = set("WICK_SYNC");
    modes.nofuse = set("WICK_NOFUSE");
    modes.budget = (int64_t)256 << 20;
    atomic_store_explicit(&modes_ready, true, memory_order_release);
}

const wk__modes *wk__modes_now(void)
{
    if (!atomic_load_explicit(&modes_ready, memory_order_acquire)) pthread_once(&modes_once, read_modes);
    return &modes;
}

void wk__modes_set(bool sync, bool nofuse)
{
    wk__modes_now();
    modes.sync = sync;
    modes.nofuse = nofuse;
}
