#include "CLibFuzzer.h"

#include <bzlib.h>

// Weak symbols, so that the tool also links, and can repeat single inputs, when nothing is instrumented.
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

// libFuzzer finds this function by its name.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t capacity, unsigned int seed) {
    return current ? current(data, size, capacity, seed) : fuzz_mutate(data, size, capacity);
}

// bzip2 needs a megabyte for each stream; allocating it each time would take most of the run's time.
static _Alignas(16) char arena[2 << 20];

static void *take(void *used, int count, int size) {
    size_t start = *(size_t *)used, length = (((size_t)count * (size_t)size) + 15) & ~(size_t)15;
    if (length > sizeof(arena) - start) return NULL;
    *(size_t *)used += length;
    return arena + start;
}

static void give(void *used, void *address) {
    (void)used;
    (void)address;
}

size_t fuzz_compress(const uint8_t *data, size_t size, uint8_t *target, size_t capacity) {
    size_t used = 0;
    bz_stream stream = {.bzalloc = take, .bzfree = give, .opaque = &used};
    if (BZ2_bzCompressInit(&stream, 1, 0, 0) != BZ_OK) return 0;
    stream.next_in = (char *)data;
    stream.avail_in = (unsigned int)size;
    stream.next_out = (char *)target;
    stream.avail_out = (unsigned int)capacity;
    int code = BZ2_bzCompress(&stream, BZ_FINISH);
    BZ2_bzCompressEnd(&stream);
    return code == BZ_STREAM_END ? capacity - stream.avail_out : 0;
}

size_t fuzz_decompress(const uint8_t *data, size_t size, uint8_t *target, size_t capacity) {
    unsigned int length = (unsigned int)capacity;
    int code = BZ2_bzBuffToBuffDecompress((char *)target, &length, (char *)data, (unsigned int)size, 0, 0);
    return code == BZ_OK ? length : 0;
}
