import CWaystationSessions
import Synchronization
package import Waystation
import WaystationFoundation

/// The sessions whose loads the stubs or the recording of a test answer.
public enum ReachedSessions: Sendable {
    /// All sessions that can be reached, the default: `URLSession.shared`, and every session whose configuration comes
    /// from `URLSessionConfiguration.default` or `.ephemeral` while the test runs, in the code under test and in libraries.
    ///
    /// A load belongs to the test in whose Swift task, or in a child task of it, it is resumed. A load that is resumed
    /// elsewhere, such as in `Task.detached` or on a dispatch queue, belongs to the test in which the configuration of its
    /// session was made.
    ///
    /// These loads cannot be reached, and are made as without the test:
    /// - loads of `URLSession.shared` that are resumed elsewhere;
    /// - loads of a session whose configuration was made before the test, other than `URLSession.shared`;
    /// - loads of a session whose `protocolClasses` the code replaces;
    /// - in a program that links Foundation statically, loads of all sessions but `URLSession.shared`.
    ///
    /// Give such code a session of ``FoundationNetworking/URLSessionConfiguration/ofTest``.
    case all
    /// Sessions of ``FoundationNetworking/URLSessionConfiguration/ofTest`` only.
    case ofTest
}

/// Gives `URLSession.shared` the network of the test in whose task a load begins.
enum SharedSession {
    private static let isReached = Mutex(false)

    /// Changes the session the first time; other threads wait meanwhile, so that none uses it before.
    static func reach(_ session: URLSession) {
        isReached.withLock { isReached in
            guard !isReached else { return }
            isReached = true
            // Foundation returns the configuration itself, and reads it anew for each task.
            ScopedNetwork.install(in: session.configuration) { TestScope.current?.network }
        }
    }
}

@_cdecl("waystation_shared_session_was_asked")
func sharedSessionWasAsked(_ session: UnsafeMutableRawPointer) {
    SharedSession.reach(Unmanaged<URLSession>.fromOpaque(session).takeUnretainedValue())
}

extension FoundationCure {
    /// The cure that lets a test answer sessions that code makes by itself.
    ///
    /// It touches no property: it stands before three getters, by their names. Whether it does is found out by a call.
    package static let reachedSessions = judgingSessions { _ = URLSessionConfiguration.ephemeral }

    /// Judges the cure by a call of a getter.
    static func judgingSessions(calling getter: () -> Void) -> FoundationCure {
        let trial = GetterTrial()
        GetterTrial.$current.withValue(trial, operation: getter)
        let isReached = trial.isReached.load(ordering: .relaxed)
        return FoundationCure(
            "L9",
            "a test answers the sessions that the code under test makes",
            without: "a test answers sessions of URLSessionConfiguration.ofTest only",
            missing: isReached ? nil : "getter URLSessionConfiguration.ephemeral in a shared library"
        )
    }
}

/// A call of a getter, made to find out whether it is observed.
private final class GetterTrial: Sendable {
    @TaskLocal static var current: GetterTrial?

    let isReached = Atomic(false)
}

@_cdecl("waystation_configuration_was_made")
func configurationWasMade(_ configuration: UnsafeMutableRawPointer) {
    GetterTrial.current?.isReached.store(true, ordering: .relaxed)
    guard let network = TestScope.current?.network else { return }
    let configuration = Unmanaged<URLSessionConfiguration>.fromOpaque(configuration).takeUnretainedValue()
    network.installAsDefault(in: configuration) { TestScope.current.map(\.network) }
}
