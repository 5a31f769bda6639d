import Foundation
import Waystation
import WaystationOrigin

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Loads whose tasks are suspended or have a time-out.
extension TrapLoads {
    func suspendedTask() async throws -> String? {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("first".utf8)), .wait(gate), .bytes(Data("rest".utf8))])
        }
        let delegate = LoadRecorder(first: { task in
            task.suspend()
            task.resume()
            gate.open()
        })
        try session(delegate: delegate).dataTask(with: origin.url()).resume()
        let load = await end {
            await delegate.load
        } before: {
            await origin.waitForRequests(2)
        }
        guard origin.requestCount == 1 else { return "resuming a suspended task sends the request again" }
        return load?.body == Data("firstrest".utf8) ? nil : "a suspended task loses or repeats bytes"
    }

    func intervalOfInitializer() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/other" ? .ok() : .unanswered }
        let session = try session()
        let request = URLRequest(url: origin.url(), cachePolicy: .useProtocolCachePolicy, timeoutInterval: 1)
        let code = await end {
            await error(of: request, session)
        } before: {
            await origin.waitForRequests(1)
            // Foundation obeys the interval if the property was set.
            var late = URLRequest(url: origin.url())
            late.timeoutInterval = 1
            _ = await error(of: late, session)
            await otherLoads(session, origin)
        }
        return code == .timedOut ? nil : "a time-out of 1 s in a request's initializer is ignored"
    }
}
