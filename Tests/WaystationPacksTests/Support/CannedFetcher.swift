import Foundation
import HTTPTypes
import Synchronization
import WaystationPacks

/// A network in memory: one answer for every request, and a record of the requests.
final class CannedFetcher: PackFetching {
    struct Answer: Sendable {
        var status = 200
        var fields: HTTPFields = [:]
        var parts: [Data] = []
    }

    private let requestLog = Mutex<[FetchRequest]>([])
    private let answer: @Sendable (FetchRequest) -> Answer

    init(_ answer: @escaping @Sendable (FetchRequest) -> Answer) { self.answer = answer }

    convenience init(_ body: Data, status: Int = 200, fields: HTTPFields = [:]) {
        self.init { _ in Answer(status: status, fields: fields, parts: [body]) }
    }

    convenience init(_ body: String, status: Int = 200, fields: HTTPFields = [:]) {
        self.init(Data(body.utf8), status: status, fields: fields)
    }

    var requests: [FetchRequest] { requestLog.withLock { $0 } }

    func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        requestLog.withLock { $0.append(request) }
        let answer = answer(request)
        let body = AsyncThrowingStream<Data, any Error> { continuation in
            for part in answer.parts { continuation.yield(part) }
            continuation.finish()
        }
        return FetchedResponse(status: answer.status, fields: answer.fields, url: request.url, body: body)
    }
}
