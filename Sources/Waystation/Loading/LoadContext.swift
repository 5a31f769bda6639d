import Dispatch
import Foundation
import FoundationNetworking

/// The data that all code working on one load shares.
struct LoadContext: Sendable {
    let binding: Binding
    private(set) var request: URLRequest
    /// Whether ``request`` differs from the app's own request, which is the only one that Foundation's loader would
    /// send.
    private(set) var isChanged = false
    private(set) var rule: Int?
    /// The login under which the request got its cookies.
    private(set) var ticket: LoginTicket?
    /// Nil unless a recorder is set.
    let recording: ExchangeRecording?
    private let begun = DispatchTime.now()

    init(binding: Binding, request: URLRequest, rule: Int?) {
        self.binding = binding
        self.request = request
        self.rule = rule
        let configuration = binding.interceptor.engine.configuration
        recording = configuration.recorder.map { ExchangeRecording(request, $0, now: configuration.now) }
    }

    /// The same load with a changed request.
    func sending(_ request: URLRequest) -> LoadContext {
        var context = self
        context.request = request
        context.isChanged = true
        recording?.isAnswering(request)
        return context
    }

    /// Whether Foundation's loader would load the request wrongly: it sends the app's own request, and ends a request
    /// whose interval is below a second at once.
    var mustBeForwarded: Bool {
        isChanged || (request.hasTimeoutBelowOneSecond && request.httpBodyStream == nil)
    }

    /// The same load under a login.
    func under(_ ticket: LoginTicket) -> LoadContext {
        var context = self
        context.ticket = ticket
        return context
    }

    /// The same load, with the rule that decided about its last request.
    func decided(by rule: Int?) -> LoadContext {
        var context = self
        context.rule = rule
        return context
    }

    var engine: Engine { binding.interceptor.engine }

    /// Emits an event of this load.
    func emit(_ kind: LoadEvent.Kind) {
        recording?.isExplained(by: kind)
        engine.events.emit(
            LoadEvent(
                kind: kind,
                url: request.url,
                method: request.httpMethod,
                rule: rule,
                duration: Double(DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds) / 1e9
            )
        )
    }
}
