#if canImport(FoundationEssentials)
public import protocol FoundationEssentials.LocalizedError
#else
public import protocol Foundation.LocalizedError
#endif

/// The shape of the library's errors: a code for programs, a message for people, and the error that caused this one.
///
/// Each part of the library has a type of this shape, so that `catch` can tell the parts apart:
///
/// ```swift
/// do {
///     try await prepare()  // opens the cache, installs the packs
/// } catch let error as PackError where error.code == .noSpace {
///     await askForSpace()
/// } catch let error as any CodedError {
///     logger.error("\(error.message)", metadata: ["code": "\(error.code)"])
/// }
/// ```
public protocol CodedError: LocalizedError, Sendable, CustomStringConvertible {
    /// The type of the code; later releases may add codes.
    associatedtype Code: Hashable, Sendable, CustomStringConvertible

    /// The kind of the error; its description is short and does not change between releases, for logs and metrics.
    var code: Code { get }

    /// Sentences that say what was wrong, where, and what to do.
    ///
    /// Text from outside is escaped and cut in them, and secrets are hidden. It is also the `localizedDescription`.
    var message: String { get }

    /// The error that caused this one; nil if no other error did, or if none is kept.
    var cause: (any Error)? { get }
}

extension CodedError {
    /// Nil: errors of this type have no cause.
    public var cause: (any Error)? { nil }

    /// The message, for `localizedDescription`.
    public var errorDescription: String? { message }

    // Foundation has defaults of the next three, which a module that does not import Foundation cannot use.

    /// Nil: the message says the reason.
    public var failureReason: String? { nil }

    /// Nil: the message says what to do.
    public var recoverySuggestion: String? { nil }

    /// Nil: the library has no help book.
    public var helpAnchor: String? { nil }

    /// The code, the message, and the cause if there is one.
    public var description: String { "\(code): \(message)" + (cause.map { " (\("\($0)".shown(upTo: 2_000)))" } ?? "") }
}
