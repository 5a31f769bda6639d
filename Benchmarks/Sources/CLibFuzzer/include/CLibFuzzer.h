#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int (*fuzz_test)(const uint8_t *data, size_t size);
typedef size_t (*fuzz_mutator)(uint8_t *data, size_t size, size_t capacity, unsigned int seed);

/// Passes a test to libFuzzer, which ends the process when it is done.
/// Returns -1 when the program was linked without libFuzzer.
int fuzz_run(int *argc, char ***argv, fuzz_test test, fuzz_mutator mutator);

/// Applies libFuzzer's own mutation to some bytes; returns their new count.
size_t fuzz_mutate(uint8_t *data, size_t size, size_t capacity);

/// Makes one bzip2 stream with the smallest block size; returns its length, or 0 when it does not fit.
size_t fuzz_compress(const uint8_t *data, size_t size, uint8_t *target, size_t capacity);

/// Decompresses a bzip2 stream; returns the length of its contents, or 0 when they do not fit or are damaged.
size_t fuzz_decompress(const uint8_t *data, size_t size, uint8_t *target, size_t capacity);
