#include "WaystationSQLite.h"

#include <string.h>

// The header of the index of a log has two equal copies. A commit writes the second one first, as SQLite's readers read
// the first one first.
enum { header_words = 6, region_size = 32768, format_version = 3007000 };

typedef struct {
    uint32_t version;
    uint32_t unused;
    uint32_t commits;
    uint8_t is_initialized;
} header_start;

const void *waystation_sqlite_log_index(sqlite3 *db) {
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return NULL;
    const sqlite3_io_methods *methods = file->pMethods;
    if (!methods || methods->iVersion < 2 || !methods->xShmMap) return NULL;
    // A connection that reads or writes has mapped it before; this asks for the same place, and makes nothing.
    volatile void *region = NULL;
    if (methods->xShmMap(file, 0, region_size, 0, &region) != SQLITE_OK) return NULL;
    return (const void *)region;
}

bool waystation_sqlite_read_log_state(const void *log_index, waystation_sqlite_log_state *state) {
    const uint64_t *words = log_index;
    for (int word = 0; word < header_words; word++) state->words[word] = __atomic_load_n(words + word, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int word = 0; word < header_words; word++) {
        if (__atomic_load_n(words + header_words + word, __ATOMIC_RELAXED) != state->words[word]) return false;
    }
    header_start start;
    memcpy(&start, state->words, sizeof start);
    state->commits = start.commits;
    return start.version == format_version && start.is_initialized;
}
