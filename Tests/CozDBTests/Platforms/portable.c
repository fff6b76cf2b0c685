// Contention on the waits of systems without futexes: exits with 0 if no wake-up is lost and one
// thread at a time has the lock.
#include "CozKernels.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREAD_COUNT = 6, ROUND_COUNT = 3000 };

static uint32_t lock, condition, gate, semaphore;
static int turn, sum;

static void *run(void *argument) {
    int number = (int)(intptr_t)argument;
    coz_gate_wait(&gate);
    for (int round = 0; round < ROUND_COUNT; round++) {
        coz_lock(&lock);
        while (turn % THREAD_COUNT != number) coz_condition_wait(&condition, &lock);
        turn++;
        sum++;
        coz_condition_change(&condition);
        coz_unlock(&lock);
        coz_semaphore_post(&semaphore);
    }
    return NULL;
}

int main(void) {
    alarm(60);
    pthread_t threads[THREAD_COUNT];
    for (int number = 0; number < THREAD_COUNT; number++) {
        pthread_create(&threads[number], NULL, run, (void *)(intptr_t)number);
    }
    if (coz_gate_wait_for(&gate, 20000000)) return 2;
    coz_gate_open(&gate);
    if (!coz_gate_wait_for(&gate, 1000000)) return 3;
    for (int count = 0; count < THREAD_COUNT * ROUND_COUNT; count++) coz_semaphore_wait(&semaphore);
    for (int number = 0; number < THREAD_COUNT; number++) pthread_join(threads[number], NULL);
    return sum == THREAD_COUNT * ROUND_COUNT && semaphore == 0 ? 0 : 1;
}
