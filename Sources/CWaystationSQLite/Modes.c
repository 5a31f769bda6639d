#define _GNU_SOURCE
#include "CWaystationSQLite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/vfs.h>

static _Thread_local waystation_sqlite_mode mode = waystation_sqlite_plain;
static _Thread_local bool is_unsupported = false;

void waystation_sqlite_set_mode(waystation_sqlite_mode new_mode) {
    mode = new_mode;
    if (new_mode != waystation_sqlite_plain) is_unsupported = false;
}

bool waystation_sqlite_is_memory_unsupported(void) { return is_unsupported; }

#if defined(RWF_NOWAIT) && defined(O_NOATIME) && defined(__LP64__)

typedef int (*open_call)(const char *, int, int);
typedef ssize_t (*read_call)(int, void *, size_t, off_t);

static open_call plain_open;
static read_call plain_read;

static int opening(const char *path, int flags, int permissions) {
    if (mode == waystation_sqlite_opening_without_access_times) {
        // Fails if the file belongs to another user.
        int descriptor = plain_open(path, flags | O_NOATIME, permissions);
        if (descriptor >= 0 || errno != EPERM) return descriptor;
    }
    return plain_open(path, flags, permissions);
}

static ssize_t reading(int descriptor, void *bytes, size_t count, off_t offset) {
    if (mode != waystation_sqlite_reading_from_memory) return plain_read(descriptor, bytes, count, offset);
    // If only the first of the bytes are in memory, SQLite asks for the rest in a second call, which fails.
    struct iovec place = {bytes, count};
    ssize_t length = preadv2(descriptor, &place, 1, offset, RWF_NOWAIT);
    if (length < 0 && errno == EOPNOTSUPP) {
        struct statfs system;
        if (fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS_MAGIC) {
            // It has no disk, and so no such reads.
            return plain_read(descriptor, bytes, count, offset);
        }
        is_unsupported = true;
    }
    // SQLite repeats a read that was interrupted.
    if (length < 0 && errno != EINTR) errno = EIO;
    return length;
}

bool waystation_sqlite_install_modes(void) {
    if (plain_read) return true;
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (!vfs || strcmp(vfs->zName, "unix") != 0 || vfs->iVersion < 3) return false;
    // SQLite reads by one of these two, and has no pointer for the other one.
    const char *name = "pread64";
    sqlite3_syscall_ptr read = vfs->xGetSystemCall(vfs, name);
    if (!read) read = vfs->xGetSystemCall(vfs, name = "pread");
    sqlite3_syscall_ptr open = vfs->xGetSystemCall(vfs, "open");
    if (!read || !open) return false;
    plain_open = (open_call)open;
    if (vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)opening) != SQLITE_OK) return false;
    plain_read = (read_call)read;
    if (vfs->xSetSystemCall(vfs, name, (sqlite3_syscall_ptr)reading) == SQLITE_OK) return true;
    plain_read = NULL;
    return false;
}

#else

bool waystation_sqlite_install_modes(void) { return false; }

#endif
