import Dispatch
import Foundation
import FoundationNetworking

/// The interceptor and the network of a load, and the load's events and recording.
struct LoadContext: Sendable {
    let engine: Engine
    let network: Network
    /// The load's first request.
    let request: URLRequest
    /// The rule that decided about the first request.
    let rule: Int?
    /// Nil unless a recorder is set.
    let recording: ExchangeRecording?
    private let begun = DispatchTime.now()

    init(engine: Engine, network: Network, request: URLRequest, rule: Int?) {
        self.engine = engine
        self.network = network
        self.request = request
        self.rule = rule
        let configuration = engine.configuration
        recording = configuration.recorder.map { ExchangeRecording(request, $0, now: configuration.now) }
    }

    /// The stations of the load's hops.
    var stations: Stations { Stations(engine: engine, network: network) }

    /// Emits an event of this load, which the rule of its first request decided about.
    func emit(_ kind: LoadEvent.Kind) { emit(kind, decidedBy: rule) }

    /// Emits an event of this load.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - rule: The rule that decided about the load's last request.
    func emit(_ kind: LoadEvent.Kind, decidedBy rule: Int?) {
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

    /// Reports an answer that is delivered, and renews it in the background if it is due.
    func served(_ answer: Answer, decidedBy rule: Int?) {
        emit(.served(from: answer.source, status: answer.response.statusCode, bytes: answer.body.length), decidedBy: rule)
        renew(answer)
    }

    /// Renews an answer in the background if it is due.
    func renew(_ answer: Answer) {
        guard let plan = answer.renews else { return }
        engine.fetches.renew(plan, engine: engine, through: network)
    }
}
