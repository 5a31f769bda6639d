import Foundation
import Synchronization
import WaystationFileSystem

/// An open index stays usable when its file is moved or removed, and SQLite reports that only without a WAL: what is
/// written then is lost, and look-ups return what no other process sees.
extension ResponseStore {
    /// How often the place of the index is checked, in seconds.
    private static let placeInterval: TimeInterval = 1

    /// The parts of the open store, after a check that its index is still the one in the directory.
    ///
    /// Another process moves an index aside if it finds it damaged; the directory may also be removed. The check is
    /// made at most once a second; it opens the index that is in the directory now, or makes one.
    ///
    /// Call it on the write queue.
    func openedInPlace() -> Opened? {
        if claimPlaceCheck(at: now()) { checkPlace() }
        return opened()
    }

    /// Schedules a check of the index's place on the write queue, if one is due.
    func requestPlaceCheck(at time: Date) {
        if claimPlaceCheck(at: time) { writeQueue.async { self.checkPlace() } }
    }

    /// Claims a check if one is due: the caller must make it.
    ///
    /// - Returns: Whether a check is due.
    private func claimPlaceCheck(at time: Date) -> Bool {
        state.withLock { state in
            guard abs(time.timeIntervalSince(state.placeCheckedAt)) > Self.placeInterval else { return false }
            state.placeCheckedAt = time
            return true
        }
    }

    private func checkPlace() {
        guard let opened = opened() else { return }
        do {
            guard try environment.fileSystem.identity(of: layout.index) != opened.index.identity else { return }
            replace(opened, isDamaged: false)
        } catch {
            handle(error, in: opened, while: "checking the place of the index")
        }
    }
}
