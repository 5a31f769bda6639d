#include "CLibFuzzer.h"

#include <bzlib.h>

// Weak, so that the tool also links, and repeats single inputs, where nothing is instrumented.
__attribute__((weak)) int LLVMFuzzerRunDriver(int *argc, char ***argv, fuzz_test test);
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t capacity);

static fuzz_mutator current;

int fuzz_run(int *argc, char ***argv, fuzz_test test, fuzz_mutator mutator) {
    current = mutator;
    return LLVMFuzzerRunDriver ? LLVMFuzzerRunDriver(argc, argv, test) : -1;
}

size_t fuzz_mutate(uint8_t *data, size_t size, size_t capacity) {
    return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, capacity) : size;
}

// libFuzzer finds it by its name.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned int seed) {
    return current ? current(data, size, capacity, seed) : fuzz_mutate(data, size, capacity);
}

size_t fuzz_compress(const uint8_t *data, size_t size, uint8_t *target, size_t capacity) {
    unsigned int length = (unsigned int)capacity;
    int code = BZ2_bzBuffToBuffCompress((char *)target, &length, (char *)data, (unsigned int)size, 1, 0, 0);
    return code == BZ_OK ? length : 0;
}

size_t fuzz_decompress(const uint8_t *data, size_t size, uint8_t *target, size_t capacity) {
    unsigned int length = (unsigned int)capacity;
    int code = BZ2_bzBuffToBuffDecompress((char *)target, &length, (char *)data, (unsigned int)size, 0, 0);
    return code == BZ_OK ? length : 0;
}
