import Foundation

/// The actions of a new process on its descriptors before its program begins.
struct FileActions {
    private var actions = posix_spawn_file_actions_t()

    init() { posix_spawn_file_actions_init(&actions) }

    mutating func destroy() { posix_spawn_file_actions_destroy(&actions) }

    mutating func use(_ descriptor: Descriptor, as number: CInt) { use(descriptor.number, as: number) }

    mutating func use(_ descriptor: CInt, as number: CInt) {
        posix_spawn_file_actions_adddup2(&actions, descriptor, number)
    }

    mutating func open(_ path: String, as number: CInt) {
        posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }

    /// Starts a process in which no signal is blocked, with no other descriptors than the three standard ones.
    ///
    /// A process that inherited a connection would keep it open after this process has closed it. Swift does not import
    /// `posix_spawn_file_actions_addclosefrom_np`, so the descriptors are named one by one.
    mutating func spawn(_ command: [String], environment: [String: String]) throws -> pid_t {
        let inherited = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { CInt($0) }
        for descriptor in inherited where descriptor > STDERR_FILENO {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments = command.map { strdup($0) }
        let variables = environment.map { strdup("\($0)=\($1)") }
        defer { for pointer in arguments + variables { free(pointer) } }
        var child = pid_t()
        let code = posix_spawn(&child, command[0], &actions, &attributes, arguments + [nil], variables + [nil])
        guard code == 0 else {
            throw SpawnedProcessFailure("\(command[0]) cannot be started: \(String(cString: strerror(code)))")
        }
        return child
    }
}
