#define _GNU_SOURCE
#include "WaystationSQLite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>

// In microseconds.
enum { time_without_a_pause = 50, time_for_pauses = 20000 };

static _Thread_local waystation_sqlite_mode mode = waystation_sqlite_plain;
static _Thread_local bool is_unsupported = false;
static _Thread_local int64_t begin, last_pause;
static _Thread_local unsigned pauses;

static int64_t microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

void waystation_sqlite_set_mode(waystation_sqlite_mode new_mode) {
    mode = new_mode;
    if (new_mode == waystation_sqlite_reading_from_memory) is_unsupported = false;
    if (new_mode == waystation_sqlite_giving_way) {
        begin = last_pause = microseconds();
        pauses = 0;
    }
}

bool waystation_sqlite_gives_way(void) { return mode == waystation_sqlite_giving_way; }

void waystation_sqlite_give_way(void) {
    if (!waystation_sqlite_gives_way()) return;
    int64_t now = microseconds();
    if (now - last_pause < time_without_a_pause || now - begin >= time_for_pauses) return;
    if (sched_yield() == 0) pauses++;
    last_pause = microseconds();
}

unsigned waystation_sqlite_pauses(void) { return pauses; }

bool waystation_sqlite_is_memory_unsupported(void) { return is_unsupported; }

#if defined(RWF_NOWAIT) && defined(O_NOATIME) && defined(__LP64__)

typedef int (*open_call)(const char *, int, int);
typedef ssize_t (*read_call)(int, void *, size_t, off_t);
typedef ssize_t (*write_call)(int, const void *, size_t, off_t);

static open_call plain_open;
static read_call plain_read;
static write_call plain_write;

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
        errno = EOPNOTSUPP;
    }
    // The error stays EAGAIN: SQLite takes EIO for a damaged file system, and logs that the database is corrupt.
    return length;
}

static ssize_t writing(int descriptor, const void *bytes, size_t count, off_t offset) {
    waystation_sqlite_give_way();
    return plain_write(descriptor, bytes, count, offset);
}

// SQLite makes a call by one of its two names, and has no pointer for the other one.
static sqlite3_syscall_ptr find(sqlite3_vfs *vfs, const char **name, const char *other_name) {
    sqlite3_syscall_ptr call = vfs->xGetSystemCall(vfs, *name);
    return call ? call : vfs->xGetSystemCall(vfs, *name = other_name);
}

static bool install(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    if (!vfs || strcmp(vfs->zName, "unix") != 0 || vfs->iVersion < 3) return false;
    const char *read_name = "pread64", *write_name = "pwrite64";
    sqlite3_syscall_ptr open = vfs->xGetSystemCall(vfs, "open");
    sqlite3_syscall_ptr read = find(vfs, &read_name, "pread");
    sqlite3_syscall_ptr write = find(vfs, &write_name, "pwrite");
    if (!open || !read || !write) return false;
    // A replacement may be called by another thread as soon as it is there.
    plain_open = (open_call)open;
    plain_read = (read_call)read;
    plain_write = (write_call)write;
    return vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)opening) == SQLITE_OK
        && vfs->xSetSystemCall(vfs, read_name, (sqlite3_syscall_ptr)reading) == SQLITE_OK
        && vfs->xSetSystemCall(vfs, write_name, (sqlite3_syscall_ptr)writing) == SQLITE_OK;
}

bool waystation_sqlite_install_modes(void) {
    static bool is_tried = false, works = false;
    if (!is_tried) works = install();
    is_tried = true;
    return works;
}

#else

bool waystation_sqlite_install_modes(void) { return false; }

#endif
