// The bounds of the calling thread's stack, which POSIX does not tell.
#define _GNU_SOURCE

#include "CozKernels.h"

#include <pthread.h>

// The cached bounds of this thread's stack. For the main thread, glibc reads all of
// /proc/self/maps on each call.
static _Thread_local uintptr_t lowest, highest;

static bool find_bounds(void) {
#if defined(__APPLE__)
    highest = (uintptr_t)pthread_get_stackaddr_np(pthread_self());
    lowest = highest - pthread_get_stacksize_np(pthread_self());
    return true;
#else
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    int status = pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    if (status != 0) return false;
    lowest = (uintptr_t)start;
    highest = lowest + size;
    return true;
#endif
}

size_t coz_stack_remaining(void) {
    // The address of a local variable approximates the current end of the stack.
    char local;
    uintptr_t here = (uintptr_t)&local;
    // Outside the cached bounds: not cached yet, or the program has switched stacks.
    if ((here <= lowest || here >= highest) && !find_bounds()) return 0;
    return here > lowest && here < highest ? here - lowest : 0;
}
