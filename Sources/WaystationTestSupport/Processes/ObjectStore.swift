import Foundation

/// A private S3-compatible store on loopback: `Tests/ObjectStore/serve.py`, with one bucket, `releases`.
///
/// It checks signatures, regions and the conditions of writes. Below the prefix `unconditional/`, it ignores the
/// conditions.
public struct ObjectStore: Sendable {
    /// The one store of this process, since its start takes seconds; tests use prefixes of their own.
    ///
    /// - Throws: ``ServerProcess/Failure`` when its environment is not installed, or it does not start.
    public static var shared: ObjectStore { get throws { try made.get() } }

    private static let made = Result { try ObjectStore() }

    private let process: ServerProcess

    private init() throws {
        let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let environment =
            ProcessInfo.processInfo.environment["OBJECT_STORE"] ?? root.appending(path: ".build/object-store").path
        let python = environment + "/bin/python"
        guard FileManager.default.isExecutableFile(atPath: python) else {
            throw ServerProcess.Failure(
                description: "\(python) is missing: `make object-store` installs it, and OBJECT_STORE names another one"
            )
        }
        let script = root.appending(path: "Tests/ObjectStore/serve.py").path
        let program = ServerProcess.Program(
            name: "object-store",
            package: "python3-venv",
            paths: [python],
            // The S3-compatible server reads a large library before it listens, and the machine may be busy.
            attempts: 3_000
        ) { _, configuration in [script, configuration] }
        process = try ServerProcess(program) { port, _ in "\(port)" }
    }

    /// The URL of the store.
    public var endpoint: String { "http://127.0.0.1:\(process.port)" }

    /// The variables with which the tools of this project use the store.
    public var environment: [String: String] {
        [
            "AWS_ACCESS_KEY_ID": "test-key", "AWS_SECRET_ACCESS_KEY": "test-secret", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": endpoint,
        ]
    }

    /// The address of a place that no other test uses.
    public func address(below prefix: String = "tests") -> String { "s3://releases/\(prefix)/\(UUID().uuidString)" }
}
