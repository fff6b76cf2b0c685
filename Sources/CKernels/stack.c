// The stack of the calling thread, which glibc tells only those that ask for its own extensions.
#define _GNU_SOURCE

#include "CKernels.h"

#include <pthread.h>

// Where it begins and ends, once the thread has asked: for the first thread of a process glibc
// reads all of /proc/self/maps each time.
static _Thread_local uintptr_t lowest, highest;

size_t coz_stack_left(void) {
    pthread_attr_t attributes;
    // A variable of this call lies where the stack ends at the moment.
    uintptr_t here = (uintptr_t)&attributes;
    // Who changes stacks itself is on another one than before.
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
