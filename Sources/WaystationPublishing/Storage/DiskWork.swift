import WaystationFileSystem
import WaystationPacks

/// Runs work that computes or waits for the disk away from Swift's threads; it is never cancelled halfway.
enum DiskWork {
    /// Runs the work, and converts errors of the disk to a `PackError` that names the task.
    static func run<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.uncancelled { () throws(PackError) in try onDisk(task, body) }
    }

    private static func onDisk<Value>(_ task: String, _ body: () throws -> Value) throws(PackError) -> Value {
        do {
            return try body()
        } catch let error as PackError {
            throw error
        } catch let error as FileError where error.isFull {
            throw PackError(
                .noSpace,
                "the disk is full while \(task): free some space; the published packs are unchanged",
                cause: error
            )
        } catch {
            throw PackError(
                .fileSystem,
                "\(task) failed; try again, which also completes an unfinished change",
                cause: error
            )
        }
    }
}
