#if !__has_include(<sqlite3.h>)
#error "The header sqlite3.h is missing: install the package libsqlite3-dev (apt-get install libsqlite3-dev)"
#endif
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/// Forbids SQL that could damage the file itself. sqlite3_db_config() is variadic, which Swift cannot call.
static inline int waystation_sqlite_set_defensive(sqlite3 *db, int isOn) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, isOn, (int *)0);
}

/// Keeps a connection from writing the log into the database when it closes as the last one.
static inline int waystation_sqlite_set_no_checkpoint_on_close(sqlite3 *db, int isOn) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn, (int *)0);
}

/// Makes SQLite pass the messages of its log to a function; for tests. It must be called before the first use of SQLite in
/// a process. sqlite3_config() is variadic, which Swift cannot call.
static inline int waystation_sqlite_set_log(void (*log)(void *context, int code, const char *message), void *context) {
    return sqlite3_config(SQLITE_CONFIG_LOG, log, context);
}

/// Binds text to a parameter; SQLite makes a copy. Swift cannot import the constant that asks for the copy.
static inline int waystation_sqlite_bind_text(
    sqlite3_stmt *statement, int position, const void *bytes, sqlite3_uint64 count
) {
    return sqlite3_bind_text64(statement, position, bytes ? bytes : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds bytes to a parameter; SQLite makes a copy.
static inline int waystation_sqlite_bind_blob(
    sqlite3_stmt *statement, int position, const void *bytes, sqlite3_uint64 count
) {
    return sqlite3_bind_blob64(statement, position, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

/// The state of a database in WAL mode, as the index of its log has it (https://sqlite.org/walformat.html §2.1).
///
/// Two states of a database are equal if nothing was committed between them.
typedef struct {
    /// How many transactions were committed since the index of the log was made.
    uint32_t commits;
    /// All bytes of the header, with its checksums.
    uint64_t words[6];
} waystation_sqlite_log_state;

/// Returns the place in memory where all processes that use a database keep the index of its log; NULL if there is none,
/// because the database is not in WAL mode.
///
/// The place stays valid until the connection is closed. The calling thread must be the one that uses the connection.
const void *waystation_sqlite_log_index(sqlite3 *db);

/// Copies the state from that place, which needs no lock and no system call.
///
/// Returns false if another connection is changing the state at that moment.
bool waystation_sqlite_read_log_state(const void *log_index, waystation_sqlite_log_state *state);

/// How the calling thread's calls into SQLite use files.
typedef enum {
    /// As SQLite does without this module.
    waystation_sqlite_plain,
    /// Files are opened so that reading them does not change their time of last access, if the user owns them.
    waystation_sqlite_opening_without_access_times,
    /// A read of bytes that the system does not have in memory fails at once, with SQLITE_IOERR.
    waystation_sqlite_reading_from_memory,
    /// Writing to a file gives way to other threads (``waystation_sqlite_give_way``).
    waystation_sqlite_giving_way,
} waystation_sqlite_mode;

/// Makes the modes available; every call after the first does nothing.
///
/// It replaces three of the system calls that SQLite's own VFS makes, by the interface that SQLite has for this
/// (sqlite3_vfs.xSetSystemCall). The replacements do what SQLite did before, unless the thread has set a mode.
///
/// Returns whether the modes have an effect: they have none if another VFS than SQLite's own is the default one, or if
/// SQLite was built to read by other calls. Not to be called by two threads at once.
bool waystation_sqlite_install_modes(void);

/// Sets the mode of the calling thread.
void waystation_sqlite_set_mode(waystation_sqlite_mode mode);

/// Returns whether the mode of the calling thread is that of giving way.
bool waystation_sqlite_gives_way(void);

/// Lets other threads run that wait for the processor of the calling thread, if its mode is that of giving way.
///
/// This happens at most every 50 µs, and no more once the mode was set 20 ms ago.
void waystation_sqlite_give_way(void);

/// Returns how often the calling thread has given way since it last set the mode of giving way.
unsigned waystation_sqlite_pauses(void);

/// Returns whether a read of the calling thread failed, since it last began to read from memory, because the file system
/// cannot limit reads to memory.
bool waystation_sqlite_is_memory_unsupported(void);
