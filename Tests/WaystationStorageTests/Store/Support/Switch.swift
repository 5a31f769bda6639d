import Synchronization
import WaystationStorage
import WaystationTestSupport

/// A flag that tests turn on and off while a store runs.
final class Switch: Sendable {
    private let state: Mutex<Bool>

    init(_ value: Bool) { state = Mutex(value) }

    var value: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension FaultyFileSystem {
    /// A file system that fails these operations with an error code while the switch is on.
    static func failing(_ operations: Set<Operation>, with code: Int32, while isOn: Switch) -> FaultyFileSystem {
        FaultyFileSystem { operation, path in
            if isOn.value, operations.contains(operation) { throw FileError("\(operation)", path, code: code) }
        }
    }
}
