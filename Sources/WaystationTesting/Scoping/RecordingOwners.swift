package import Foundation
import Synchronization

/// The tests of this process by the files of their recordings.
package enum RecordingOwners {
    private static let owners = Mutex<[String: String]>([:])

    /// Notes that a test has a recording.
    ///
    /// - Parameters:
    ///   - file: The file of the recording.
    ///   - test: The name of the test and its place in the source.
    /// - Throws: ``StubError`` with the code `sharedRecording` if another test has the same file: the tests would replace
    ///   each other's recording, or replay each other's answers.
    package static func claim(_ file: URL, for test: String) throws(StubError) {
        let path = file.standardizedFileURL.path(percentEncoded: false)
        let owner = owners.withLock { owners in
            let owner = owners[path] ?? test
            owners[path] = owner
            return owner
        }
        if owner != test { throw .shared(file, by: owner, test) }
    }
}

extension StubError {
    fileprivate static func shared(_ file: URL, by owner: String, _ test: String) -> StubError {
        let folder = file.deletingLastPathComponent().lastPathComponent
        return StubError(
            code: .sharedRecording,
            message: """
                \(owner) and \(test) have the same recording, \(folder)/\(file.lastPathComponent): rename one of the \
                tests, or give one of them, or its suite, a folder of its own by a trait such as .recorded("\(folder)-2")
                """
        )
    }
}
