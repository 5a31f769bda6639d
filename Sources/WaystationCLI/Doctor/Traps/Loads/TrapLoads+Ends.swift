import Foundation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The ends of loads, which a plain load may not have.
extension TrapLoads {
    /// Waits for the end of a load.
    ///
    /// A plain load may never end. It counts as such if other loads, which began when the server had its request, have
    /// ended before it. Loads through Waystation always end, so nothing bounds them.
    ///
    /// - Returns: The load's result; nil if it does not end.
    func end<Result: Sendable>(
        of load: @escaping @Sendable () async -> Result,
        before others: @escaping @Sendable () async -> Void
    ) async -> Result? {
        let ends = AsyncStream<Result?>.makeStream()
        Task { ends.continuation.yield(await load()) }
        if way == .plain {
            Task {
                await others()
                ends.continuation.yield(nil)
            }
        }
        return await ends.stream.first { _ in true } ?? nil
    }

    /// Makes loads, one after another, which a plain session begins and ends while an earlier load gets no answer.
    func otherLoads(_ session: URLSession, _ origin: ScriptedOrigin) async {
        for _ in 0..<10 { _ = try? await session.data(from: origin.url("/other")) }
    }

    /// Makes a load whose response does not matter.
    ///
    /// - Returns: The code of its error; ``URLError/Code/unknown`` if it has none.
    func error(of request: URLRequest, _ session: URLSession) async -> URLError.Code {
        do { _ = try await session.data(for: request) } catch { return (error as? URLError)?.code ?? .unknown }
        return .unknown
    }
}
