// Calls for files that differ between systems.
#define _GNU_SOURCE

#include "CozKernels.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__APPLE__)

int coz_sync_data(int file) {
    // `fsync` leaves the data in the cache of the device. Some file systems know no more.
    return fcntl(file, F_FULLFSYNC) == 0 ? 0 : fsync(file);
}

int coz_sync_directory(int directory) { return coz_sync_data(directory); }

int coz_allocate(int file, int64_t size) {
    struct stat status;
    if (fstat(file, &status) != 0) return errno;
    if (size <= status.st_size) return 0;
    fstore_t wanted = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, size - status.st_size, 0};
    if (fcntl(file, F_PREALLOCATE, &wanted) != 0) return errno;
    return ftruncate(file, size) == 0 ? 0 : errno;
}

int64_t coz_modification_time(const void *status) {
    struct timespec time = ((const struct stat *)status)->st_mtimespec;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void coz_take_signal(int number) {
    sigset_t signals, pending;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    if (sigpending(&pending) == 0 && sigismember(&pending, number) == 1) {
        sigwait(&signals, &number);
    }
}

#else

int coz_sync_data(int file) { return fdatasync(file); }

int coz_sync_directory(int directory) { return fsync(directory); }

int coz_allocate(int file, int64_t size) { return posix_fallocate(file, 0, size); }

int64_t coz_modification_time(const void *status) {
    struct timespec time = ((const struct stat *)status)->st_mtim;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void coz_take_signal(int number) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, number);
    struct timespec none = {0, 0};
    sigtimedwait(&signals, NULL, &none);
}

#endif
