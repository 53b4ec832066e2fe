/* Being there until the process ends. */
#ifndef WICK_BASE_STAY_H
#define WICK_BASE_STAY_H

/* The library, or the plug-in that it was linked into, is not unmapped any more when whoever loaded it closes it: threads,
 * pthread_atfork, atexit and the ends of threads keep addresses of its functions, and none of these can be taken back. */
void wk__stay_loaded(void);

#endif
