// What CozKernels uses of Apple's systems and Linux lacks, after their man pages. With it, the code
// for Apple's systems can be checked on Linux.
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#define F_ALLOCATEALL 4
#define F_PEOFPOSMODE 3
#define F_PREALLOCATE 42
#define F_FULLFSYNC 51
#define st_mtimespec st_mtim

typedef struct {
    uint32_t fst_flags;
    int fst_posmode;
    off_t fst_offset;
    off_t fst_length;
    off_t fst_bytesalloc;
} fstore_t;

void *pthread_get_stackaddr_np(pthread_t thread);
size_t pthread_get_stacksize_np(pthread_t thread);
