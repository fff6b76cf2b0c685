// Waits on Linux futexes, elsewhere on mutexes and condition variables of POSIX.

#include "wait.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

#if defined(__linux__) && !defined(COZ_PORTABLE)

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

bool coz_wait_while(uint32_t *word, uint32_t value, int64_t nanoseconds) {
    struct timespec most = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    long result = syscall(
        SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nanoseconds < 0 ? NULL : &most, NULL, 0);
    return !(result == -1 && errno == ETIMEDOUT);
}

void coz_wake(uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#else

#include <pthread.h>

// Words share a few places, by their address. A wake-up wakes all threads of a place.
enum { PLACE_COUNT = 64 };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
} places[PLACE_COUNT];

static void make_places(void) {
    for (int index = 0; index < PLACE_COUNT; index++) {
        pthread_mutex_init(&places[index].mutex, NULL);
        pthread_cond_init(&places[index].condition, NULL);
    }
}

static uint32_t place_of(uint32_t *word) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_places);
    return ((uint32_t)((uintptr_t)word >> 2) * 0x9E3779B1u >> 16) % PLACE_COUNT;
}

bool coz_wait_while(uint32_t *word, uint32_t value, int64_t nanoseconds) {
    uint32_t place = place_of(word);
    int status = 0;
    pthread_mutex_lock(&places[place].mutex);
    // Whoever changes the word wakes the place afterwards, and needs the mutex for it.
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        if (nanoseconds < 0) {
            pthread_cond_wait(&places[place].condition, &places[place].mutex);
        } else {
            struct timespec end;
            clock_gettime(CLOCK_REALTIME, &end);
            int64_t total = end.tv_nsec + nanoseconds;
            end.tv_sec += total / 1000000000;
            end.tv_nsec = total % 1000000000;
            status = pthread_cond_timedwait(&places[place].condition, &places[place].mutex, &end);
        }
    }
    pthread_mutex_unlock(&places[place].mutex);
    return status != ETIMEDOUT;
}

void coz_wake(uint32_t *word, int count) {
    (void)count;
    uint32_t place = place_of(word);
    pthread_mutex_lock(&places[place].mutex);
    pthread_cond_broadcast(&places[place].condition);
    pthread_mutex_unlock(&places[place].mutex);
}

#endif
