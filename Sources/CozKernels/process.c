// Caches the process id in a page that the kernel clears in every forked child, so that a child
// does not see its parent's id.
#define _GNU_SOURCE

#include "CozKernels.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// Null if the kernel does not support such pages.
static int32_t *kept;

static void map(void) {
#if defined(MADV_WIPEONFORK)
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (madvise(page, size, MADV_WIPEONFORK) == 0) {
        kept = page;
    } else {
        munmap(page, size);
    }
#endif
}

int32_t coz_process_id(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, map);
    if (!kept) return (int32_t)getpid();
    int32_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
    if (known != 0) return known;
    known = (int32_t)getpid();
    __atomic_store_n(kept, known, __ATOMIC_RELAXED);
    return known;
}
