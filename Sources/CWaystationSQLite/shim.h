#include <sqlite3.h>

/// Forbids SQL that could damage the file itself. sqlite3_db_config() is variadic, which Swift cannot call.
static inline int waystation_sqlite_set_defensive(sqlite3 *db, int isOn) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, isOn, (int *)0);
}

/// Keeps a connection from writing the log into the database when it closes as the last one.
static inline int waystation_sqlite_set_no_checkpoint_on_close(sqlite3 *db, int isOn) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isOn, (int *)0);
}
