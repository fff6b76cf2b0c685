// Threads of POSIX. Their stacks are at least as large as the work of the library needs: threads
// have 8 MiB on most Linux systems, 512 KiB on Apple's, 128 KiB with musl.

#include "CozKernels.h"

#include <pthread.h>
#include <signal.h>

static const size_t stack_size_min = 1 << 20;

// Starts a thread that blocks all signals, because they belong to the threads of the host; except
// those of a thread's own faults. Blocked, a fault would end the process without the host's handler.
static int start(
    pthread_t *thread, size_t stack_size, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    int status = pthread_attr_init(&attributes);
    if (status != 0) return status;
    size_t size = 0;
    pthread_attr_getstacksize(&attributes, &size);
    if (size < stack_size_min) size = stack_size_min;
    if (stack_size > 0) size = stack_size;
    pthread_attr_setstacksize(&attributes, size);
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGTRAP);
    sigdelset(&blocked, SIGFPE);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    status = pthread_create(thread, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return status;
}

int coz_thread_start(void *(*body)(void *), void *argument) {
    pthread_t thread;
    int status = start(&thread, 0, body, argument);
    if (status == 0) pthread_detach(thread);
    return status;
}

int coz_thread_run(size_t stack_size, void *(*body)(void *), void *argument) {
    pthread_t thread;
    int status = start(&thread, stack_size, body, argument);
    if (status == 0) pthread_join(thread, NULL);
    return status;
}
