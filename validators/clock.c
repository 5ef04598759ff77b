/* Shifts the wall clock of a process and of its children, and nothing else.
 *
 * Loaded by LD_PRELOAD; MINER_CLOCK_SHIFT_S says by how many seconds. Only CLOCK_REALTIME and its
 * coarse twin move: monotonic clocks, sleeps and timers by duration stay as they are. A wait until
 * an absolute wall-clock time is given that time shifted, so the shift is taken off again; a wait
 * on the monotonic clock names a time that is decades smaller and is left alone.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift_s(void)
{
    static long known = 0;
    static int asked = 0;
    if (!asked) {
        const char *text = getenv("MINER_CLOCK_SHIFT_S");
        known = text ? atol(text) : 0;
        asked = 1;
    }
    return known;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *) = 0;
    if (!real) real = REAL(clock_gettime);
    int status = real(clock, now);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += shift_s();
    return status;
}

time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    static int (*real)(struct timeval *, void *) = 0;
    if (!real) real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
    int status = real(now, zone);
    if (status == 0) now->tv_sec += shift_s();
    return status;
}

int timespec_get(struct timespec *now, int base)
{
    if (base != TIME_UTC || clock_gettime(CLOCK_REALTIME, now)) return 0;
    return base;
}

static const struct timespec *unshifted(const struct timespec *until, struct timespec *changed)
{
    struct timespec now;
    if (!until) return until;
    clock_gettime(CLOCK_REALTIME, &now); /* shifted */
    if (until->tv_sec < now.tv_sec - shift_s() / 2) return until;
    *changed = *until;
    changed->tv_sec -= shift_s();
    return changed;
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    struct timespec changed;
    return REAL(sem_timedwait)(semaphore, unshifted(until, &changed));
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
    struct timespec changed;
    return REAL(pthread_mutex_timedlock)(mutex, unshifted(until, &changed));
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    struct timespec changed;
    /* the default symbol version may differ from the one dlsym finds first */
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) = 0;
    if (!real) real = (__typeof__(real))dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!real) real = (__typeof__(real))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    return real(condition, mutex, unshifted(until, &changed));
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
    static int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = 0;
    struct timespec changed;
    if (!real) real = REAL(clock_nanosleep);
    if (clock == CLOCK_REALTIME && (flags & TIMER_ABSTIME)) wanted = unshifted(wanted, &changed);
    return real(clock, flags, wanted, left);
}
