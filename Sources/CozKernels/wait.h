// Waits for a change of a word, the base of locks, conditions, gates and semaphores.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Sleeps while the word has the value, at most this time if it is not negative. The word is compared
// and the sleep begins in one step, so that no wake-up is missed. May also return without one.
// Returns false if the time is over.
bool coz_wait_while(uint32_t *word, uint32_t value, int64_t nanoseconds);

// Wakes at most this many threads that wait for the word. May wake more.
void coz_wake(uint32_t *word, int count);
