// The bounds of the calling thread's stack, from GNU extensions of glibc.
#define _GNU_SOURCE

#include "CozKernels.h"

#include <pthread.h>

// The cached bounds of this thread's stack. For the main thread, glibc reads all of
// /proc/self/maps on each call.
static _Thread_local uintptr_t lowest, highest;

size_t coz_stack_remaining(void) {
    pthread_attr_t attributes;
    // The address of a local variable approximates the current end of the stack.
    uintptr_t here = (uintptr_t)&attributes;
    // Outside the cached bounds: not cached yet, or the program has switched stacks.
    if (here <= lowest || here >= highest) {
        void *start = NULL;
        size_t size = 0;
        if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
        int status = pthread_attr_getstack(&attributes, &start, &size);
        pthread_attr_destroy(&attributes);
        if (status != 0) return 0;
        lowest = (uintptr_t)start;
        highest = lowest + size;
    }
    return here > lowest && here < highest ? here - lowest : 0;
}
