package import Dispatch
@_spi(Reflection) import Swift
package import WaystationFoundation

/// Values that a session does not make public and that a protocol must know, read by reflection.
///
/// Foundation on Linux calls a `URLProtocol` on the session's work queue and expects every call to its client on that
/// queue, but gives no public way to reach it later. The values are stored properties of `URLSessionTask` and
/// `URLSession`. Every reader here may return nil, and every caller then has a way to continue with public API alone.
/// A reader stays out if a property has another name or another type than the tests know.
package enum FoundationInternals {
    /// The cure by the work queue of a task, which must be a stored property of this name.
    package static func taskQueueCure(_ name: String = "workQueue") -> FoundationCure {
        FoundationCure(
            "L20",
            "a load returns to its queue by one hop",
            without: "each return to a task's queue takes a suspension and a resumption of the task",
            StoredProperty(name, as: DispatchQueue.self, in: URLSessionTask.self)
        )
    }

    /// The cure by the session of a task, which must be a stored property of this name.
    package static func taskSessionCure(_ name: String = "session") -> FoundationCure {
        FoundationCure(
            "L13",
            "the delegates of tasks are asked about responses and challenges",
            without: "delegates cannot refuse a response, and get neither challenges nor redirects of forwarded loads",
            StoredProperty(
                name,
                ofType: "Swift.Optional<FoundationNetworking.URLSessionProtocol>",
                in: URLSessionTask.self
            )
        )
    }

    /// The cure by the recipients of a session's tasks, which must be in properties of these names.
    package static func recipientsCure(
        registry: String = "taskRegistry",
        behaviours: String = "behaviours",
        queue: String = "workQueue"
    ) -> FoundationCure {
        FoundationCure(
            "L21",
            "each recipient gets its body in the form that it needs",
            without: "a body for a delegate is collected as a whole, as for a completion handler",
            StoredProperty(queue, as: DispatchQueue.self, in: URLSession.self),
            StoredProperty(
                behaviours,
                ofType: "Swift.Dictionary<Swift.Int, FoundationNetworking.URLSession._TaskRegistry._Behaviour>",
                in: type(of: registry, in: URLSession.self)
            )
        )
    }

    /// The cure by the body of an upload, which must be a stored property of this name.
    package static func uploadBodyCure(_ name: String = "knownBody") -> FoundationCure {
        FoundationCure(
            "L11",
            "a rule with a transport of its own gets the body of an upload",
            without: "uploads of rules with a transport of their own are refused",
            StoredProperty(
                name,
                ofType: "Swift.Optional<FoundationNetworking.URLSessionTask._Body>",
                in: URLSessionTask.self
            )
        )
    }

    /// The cure by the queue of a session's transfers, which must be in properties of these names.
    package static func transfersCure(_ transfers: String = "multiHandle", queue: String = "queue") -> FoundationCure {
        FoundationCure(
            "pace",
            "a transfer that is faster than its task gives way to other loads",
            without: "a server on a fast network may keep all other loads waiting until its body has arrived",
            StoredProperty(queue, ofType: "Dispatch.DispatchQueue", in: type(of: transfers, in: URLSession.self))
        )
    }

    package static let cures = [taskSession, uploadBody, taskQueue, recipients, transfers]

    private static let taskQueue = taskQueueCure()
    private static let taskSession = taskSessionCure()
    private static let recipients = recipientsCure()
    private static let uploadBody = uploadBodyCure()
    private static let transfers = transfersCure()

    /// The serial queue on which the task's protocol runs and its client must be called.
    package static func workQueue(of task: URLSessionTask) -> DispatchQueue? {
        storedProperty(workQueueIndex, of: task) as? DispatchQueue
    }

    /// The session that made the task.
    package static func session(of task: URLSessionTask) -> URLSession? {
        storedProperty(sessionIndex, of: task) as? URLSession
    }

    /// The serial queue to which the work queues of a session's tasks lead.
    package static func workQueue(of session: URLSession) -> DispatchQueue? {
        recipients.isApplied ? child("workQueue", of: session) as? DispatchQueue : nil
    }

    /// The serial queue that drives the transfers of all tasks of a session; it leads to the session's work queue.
    package static func transferQueue(of session: URLSession) -> DispatchQueue? {
        guard transfers.isApplied, let handle = child("multiHandle", of: session) else { return nil }
        return Mirror(reflecting: handle).children.first { $0.label == "queue" }?.value as? DispatchQueue
    }

    /// The session's record of the recipients of its tasks' bytes.
    package struct TaskRegistry {
        private let registry: Any
        /// The position of the dictionary that holds each task's behaviour, by the task's identifier.
        private let behavioursIndex: Int

        package init?(of session: URLSession) {
            guard recipients.isApplied, let registry = FoundationInternals.child("taskRegistry", of: session),
                let index = Mirror(reflecting: registry).index(of: "behaviours")
            else { return nil }
            self.registry = registry
            behavioursIndex = index
        }

        /// The recipient of a task's bytes, or nil when it cannot be read.
        ///
        /// Call it on the session's work queue, which guards the registry.
        package func audience(of task: URLSessionTask, in session: URLSession) -> Audience? {
            guard let behaviours = Mirror(reflecting: registry).value(at: behavioursIndex),
                let behaviour = (behaviours as? [Int: Any])?[task.taskIdentifier]
            else { return nil }
            guard let chosen = Mirror(reflecting: behaviour).children.first else {
                // `callDelegate` has no payload.
                return (session.delegate as? any URLSessionTaskDelegate).map(Audience.delegate) ?? .noRecipient
            }
            let payload = Mirror(reflecting: chosen.value).children.lazy.compactMap {
                $0.value as? any URLSessionTaskDelegate
            }
            return .completionHandler(delegate: payload.first)
        }
    }

    /// The body that an upload was made with.
    package enum UploadBody {
        case data(Data)
        case file(URL)
    }

    /// The body of an upload task; nil for other tasks, and when its delegate provides a stream.
    package static func body(of task: URLSessionTask) -> UploadBody? {
        guard let known = storedProperty(bodyIndex, of: task),
            // The property is an optional, and its value an enumeration with one value for each case.
            let body = Mirror(reflecting: known).children.first?.value
        else { return nil }
        return switch Mirror(reflecting: body).children.first?.value {
        case let data as DispatchData: .data(Data(data))
        case let file as URL: .file(file)
        default: nil
        }
    }

    private static let bodyIndex = index(of: "knownBody", for: uploadBody)
    private static let workQueueIndex = index(of: "workQueue", for: taskQueue)
    private static let sessionIndex = index(of: "session", for: taskSession)

    /// Searching for a label takes about 150 µs, reading by index a few: so each index is searched for only once.
    private static func index(of label: String, for cure: FoundationCure) -> Int? {
        // `URLSessionTask()` is a bare task without a session, made only to read the layout.
        cure.isApplied ? Mirror(reflecting: URLSessionTask()).index(of: label) : nil
    }

    private static func storedProperty(_ index: Int?, of task: URLSessionTask) -> Any? {
        guard let index else { return nil }
        return Mirror(reflecting: task).ancestor(URLSessionTask.self)?.value(at: index)
    }

    private static func child(_ label: String, of session: URLSession) -> Any? {
        Mirror(reflecting: session).ancestor(URLSession.self)?.children.first { $0.label == label }?.value
    }
}

/// The recipient of a task's bytes.
package enum Audience {
    /// A completion handler or an `async` caller: it gets only the bytes of one single call.
    case completionHandler(delegate: (any URLSessionTaskDelegate)?)
    /// The session's delegate: it gets the bytes of every call.
    case delegate(any URLSessionTaskDelegate)
    /// No recipient: the task was made without a handler, in a session without a delegate.
    case noRecipient
}

extension Mirror {
    /// The mirror of those properties that one class of the subject's class hierarchy declares.
    fileprivate func ancestor(_ type: Any.Type) -> Mirror? {
        var mirror: Mirror? = self
        while let current = mirror, current.subjectType != type { mirror = current.superclassMirror }
        return mirror
    }

    fileprivate func index(of label: String) -> Int? {
        children.enumerated().first { $0.element.label == label }?.offset
    }

    fileprivate func value(at index: Int) -> Any? {
        guard index < children.count else { return nil }
        return children[children.index(children.startIndex, offsetBy: index)].value
    }
}

/// The place of a stored property that is not public, found by its name and its type.
///
/// The standard library's reflection gives the offset, the name and the type of each stored property.
package struct StoredProperty: Sendable {
    /// The offset in an instance of its type, in bytes from the start; nil if no property has this name and type.
    package let offset: Int?
    /// The property, as in `URLSessionTask.suspendCount: Int`.
    package let description: String

    /// Looks for a property.
    ///
    /// - Complexity: O(n) in the properties of the type: look a property up once.
    package init<Property>(_ name: String, as property: Property.Type, in owner: Any.Type) {
        offset = FoundationInternals.offset(of: name, as: property, in: owner)
        description = "\(owner).\(name): \(property)"
    }

    /// Looks for a property whose type is not public, either.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - type: The name of its type, with the module.
    ///   - owner: The type that has the property; nil if that was not found.
    package init(_ name: String, ofType type: String, in owner: Any.Type?) {
        let found = owner.flatMap { owner in FoundationInternals.type(of: name, in: owner).map { (owner, $0) } }
        offset = found.flatMap { owner, found in
            String(reflecting: found) == type ? FoundationInternals.offset(of: name, as: found, in: owner) : nil
        }
        description = "\(owner.map { "\($0)" } ?? "?").\(name): \(type)"
    }
}

extension FoundationInternals {
    /// The offset of a stored property in an instance of its type, in bytes from the start.
    ///
    /// The result is nil unless a property with exactly this name and type exists. So on a toolchain with another layout
    /// the caller works without the property, instead of accessing memory that belongs to something else.
    ///
    /// - Complexity: O(n) in the properties of the type: look an offset up once.
    package static func offset<Property>(of name: String, as property: Property.Type, in owner: Any.Type) -> Int? {
        offset(of: name, as: property as Any.Type, in: owner)
    }

    fileprivate static func offset(of name: String, as property: Any.Type, in owner: Any.Type) -> Int? {
        var found: Int?
        forEachProperty(of: owner) { label, offset, type in
            if type == property, label == name { found = offset }
            return found == nil
        }
        return found
    }

    /// The type of a stored property; nil if no stored property has this name.
    ///
    /// - Complexity: O(n) in the properties of the type: look a type up once.
    package static func type(of name: String, in owner: Any.Type) -> Any.Type? {
        var found: Any.Type?
        forEachProperty(of: owner) { label, _, type in
            if label == name { found = type }
            return found == nil
        }
        return found
    }

    private static func forEachProperty(of owner: Any.Type, _ body: (String, Int, Any.Type) -> Bool) {
        // `_EachFieldOptions.classType` is a mutable static, so its value is written out.
        let options = owner is AnyClass ? _EachFieldOptions(rawValue: 1) : []
        _forEachField(of: owner, options: options) { label, offset, type, _ in
            body(String(cString: label), offset, type)
        }
    }
}

/// A cure of one of Foundation's traps that reads or changes what Foundation does not make public.
///
/// A cure finds out once, when it is first used, whether this Foundation has the trap, and whether the properties that it
/// needs have the names and the types that its tests know. If one of them has not, or if the trap is gone, the cure
/// stays out: it reads and changes nothing. `Docs/FoundationTraps.md` lists the cures, and how each of them ends.
package struct FoundationCure: Sendable {
    package enum State: Hashable, Sendable {
        /// The trap is there, and cured.
        case applied
        /// This Foundation does not have the trap.
        case notNeeded
        /// The trap may be there and is not cured, because a property has another name or another type than is known.
        case unknownLayout(missing: String)
    }

    /// The number of the trap in the document.
    package let trap: String
    /// The effect of the cure, as a sentence.
    package let effect: String
    /// The fault that apps meet where the trap is not cured, as a sentence.
    package let loss: String
    package let state: State

    /// Judges a cure.
    ///
    /// - Parameters:
    ///   - trap: The number of the trap in the document.
    ///   - effect: The effect of the cure.
    ///   - loss: The fault that apps meet without the cure.
    ///   - isNeeded: Whether this Foundation has the trap.
    ///   - missing: The description of a property that was not found; nil if all were found.
    package init(_ trap: String, _ effect: String, without loss: String, isNeeded: Bool = true, missing: String?) {
        (self.trap, self.effect, self.loss) = (trap, effect, loss)
        state = if !isNeeded { .notNeeded } else if let missing { .unknownLayout(missing: missing) } else { .applied }
    }

    /// Judges a cure by the properties that it needs.
    package init(
        _ trap: String,
        _ effect: String,
        without loss: String,
        isNeeded: Bool = true,
        _ properties: StoredProperty...
    ) {
        let missing = properties.first { $0.offset == nil }?.description
        self.init(trap, effect, without: loss, isNeeded: isNeeded, missing: missing)
    }

    /// Whether the cure may touch its properties.
    package var isApplied: Bool { if case .applied = state { true } else { false } }
}

/// The version of the Swift toolchain whose libraries run the program.
///
/// The standard library says the minor version, and not the patch, so a trap that a patch corrects is recognised by its
/// behaviour alone.
package struct ToolchainVersion: Comparable, Sendable {
    private let major: Int
    private let minor: Int

    package init(_ major: Int, _ minor: Int) { (self.major, self.minor) = (major, minor) }

    /// The version of the standard library that is loaded, and so that of its Foundation: a toolchain has both.
    ///
    /// A version that cannot be read counts as older than any other, so that no cure is left out.
    package static let current: ToolchainVersion = {
        let numbers = "\(_SwiftStdlibVersion.current)".split(separator: ".").map { Int($0) ?? 0 }
        return numbers.count < 2 ? ToolchainVersion(0, 0) : ToolchainVersion(numbers[0], numbers[1])
    }()

    package static func < (one: Self, other: Self) -> Bool { (one.major, one.minor) < (other.major, other.minor) }
}
