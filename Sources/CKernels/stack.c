// The stack of the calling thread, which glibc tells only those that ask for its own extensions.
#define _GNU_SOURCE

#include "CKernels.h"

#include <pthread.h>

size_t coz_stack_left(void) {
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
    int status = pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    // A variable of this call lies where the stack ends at the moment.
    uintptr_t here = (uintptr_t)&attributes;
    uintptr_t end = (uintptr_t)start;
    return status == 0 && here > end ? here - end : 0;
}
