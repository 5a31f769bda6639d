import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("The course of a load from hop to hop")
struct CourseTests {
    /// A reference, because an expectation cannot call what changes a value.
    private final class Subject {
        let first: Hop
        var course: Course

        init() throws {
            first = Hop(try URLRequest("GET", "https://a.example/start"))
            course = Course(first)
        }

        /// Sends the first request to the network, and returns the number of the trip.
        func asked() throws -> Int {
            let trip = course.visit(first, after: nil)
            course.ask(nil)
            return try #require(trip)
        }

        func receive(_ status: Int, _ fields: [String: String] = [:], for trip: Int) throws -> String {
            let head = try ResponseHead.head(status, fields)
            return "\(course.receive(head, for: trip) { _ in "token" })"
        }

        func receive(_ text: String, for trip: Int) -> String { "\(course.receive(Data(text.utf8), for: trip))" }

        func receive(_ answer: Answer, for trip: Int) -> String {
            "\(course.receive(answer, for: trip) { _ in nil })"
        }

        func end(_ error: URLError? = nil, for trip: Int) -> String { "\(course.receiveEnd(error, for: trip))" }

        func fail(in trip: Int) -> String { "\(course.fail(URLError(.timedOut), in: trip))" }

        func end() -> Bool { course.end() }

        func visit(after trip: Int? = nil) -> Int? { course.visit(first, after: trip) }

        func askAgain(_ trip: Int) -> Course.Repetition? { course.askAgain(trip, because: .failure) }

        func follow(in trip: Int) -> Hop? { course.follow(in: trip) }

        func refuse(in trip: Int) -> (head: ResponseHead?, body: Data)? {
            course.refuseRedirect(in: trip).map { ($0.head, $0.body) }
        }
    }

    private let subject: Subject

    init() throws { subject = try Subject() }

    @Test("delivers a head and its parts, and counts them")
    func delivery() throws {
        let trip = try subject.asked()
        #expect(try subject.receive(200, for: trip).hasPrefix("deliverHead"))
        #expect(subject.receive("abc", for: trip).hasPrefix("deliverPart"))
        #expect(subject.end(for: trip) == "end(nil)")
        #expect(subject.course.delivered == (200, 3))
    }

    @Test("ignores what arrives for an earlier trip, and after the end")
    func stale() throws {
        let earlier = try subject.asked()
        let trip = try subject.asked()
        #expect(try subject.receive(200, for: earlier) == "ignore")
        #expect(subject.receive("a", for: earlier) == "ignore")
        #expect(subject.end(for: earlier) == "ignore")
        #expect(try subject.receive(200, for: trip) != "ignore")
        #expect(subject.end())
        #expect(!subject.end())
        #expect(subject.receive("a", for: trip) == "ignore")
        #expect(subject.end(for: trip) == "ignore")
        #expect(subject.visit() == nil)
    }

    @Test("keeps the body of a redirect until the client has decided")
    func redirect() throws {
        let trip = try subject.asked()
        #expect(try subject.receive(302, ["Location": "/there"], for: trip) == "ignore")
        #expect(subject.receive("mo", for: trip) == "ignore")
        #expect(subject.receive("ved", for: trip) == "ignore")
        #expect(subject.end(for: trip).hasPrefix("redirect"))
        let refused = try #require(subject.refuse(in: trip))
        #expect(refused.head?.statusCode == 302)
        #expect(refused.body == Data("moved".utf8))
        #expect(subject.course.delivered == (302, 5))
    }

    @Test("does not wait for the end of a redirect's body that is too long to be kept")
    func endlessRedirect() throws {
        let trip = try subject.asked()
        _ = try subject.receive(302, ["Location": "/there"], for: trip)
        let part = String(repeating: "a", count: Course.keptRedirectBody)
        #expect(subject.receive(part, for: trip) == "ignore")
        #expect(subject.receive("b", for: trip).hasPrefix("redirect"))
        #expect(subject.receive("c", for: trip) == "ignore")
        #expect(subject.end(for: trip) == "ignore")
        let refused = subject.course.refuseRedirect(in: trip + 1)
        #expect(refused?.body.count == part.utf8.count)
        #expect(refused?.isCut == true)
    }

    @Test("follows no redirect that is settled")
    func settled() throws {
        let trip = try subject.asked()
        _ = try subject.receive(302, ["Location": "/there"], for: trip)
        _ = subject.end(for: trip)
        #expect(subject.follow(in: trip) != nil)
        _ = try subject.asked()
        #expect(subject.follow(in: trip) == nil)
        #expect(subject.refuse(in: trip) == nil)
    }

    @Test("renews a refused token once for each hop")
    func refusedToken() throws {
        var trip = try subject.asked()
        #expect(try subject.receive(401, for: trip) == "ignore")
        #expect(subject.receive("no", for: trip) == "ignore")
        #expect(subject.end(for: trip) == #"renew(token: "token")"#)
        trip = try subject.asked()
        #expect(try subject.receive(401, for: trip).hasPrefix("deliverHead"))
    }

    @Test("does not wait for the end of a refusal whose body is too long")
    func endlessRefusal() throws {
        let trip = try subject.asked()
        _ = try subject.receive(401, for: trip)
        #expect(subject.receive(String(repeating: "a", count: Course.skippedBody), for: trip) == "ignore")
        #expect(subject.receive("b", for: trip) == #"renew(token: "token")"#)
        #expect(subject.receive("c", for: trip) == "ignore")
        #expect(subject.end(for: trip) == "ignore")
        #expect(try subject.receive(401, for: try subject.asked()).hasPrefix("deliverHead"))
    }

    @Test("takes an answer only while no response from the network has begun")
    func lateAnswer() throws {
        let answer = Answer(head: try .head(200), body: .data(Data()), source: .cache)
        let trip = try subject.asked()
        #expect(try subject.receive(200, for: trip).hasPrefix("deliverHead"))
        #expect(subject.receive(answer, for: trip) == "ignore")

        let next = try subject.asked()
        #expect(subject.receive(answer, for: next).hasPrefix("answer"))
        // The late response is only for the cache.
        #expect(try subject.receive(200, for: next) == "ignore")
    }

    @Test("a failure of the network ends it once, and not after a stored redirect has answered the hop")
    func lateFailure() throws {
        let answer = Answer(head: try .head(301, ["Location": "/there"]), body: .data(Data()), source: .cache)
        let trip = try subject.asked()
        #expect(subject.receive(answer, for: trip).hasPrefix("redirect"))
        #expect(subject.fail(in: trip) == "ignore")
        #expect(subject.follow(in: trip + 1) != nil)

        let next = try subject.asked()
        #expect(subject.fail(in: trip) == "ignore")
        #expect(subject.fail(in: next).contains("\(URLError.Code.timedOut.rawValue)"))
        #expect(subject.fail(in: next) == "ignore")
    }

    @Test("fails when the exchange ends without a head")
    func headless() throws {
        let trip = try subject.asked()
        #expect(subject.end(for: trip).contains("\(URLError.Code.badServerResponse.rawValue)"))
    }

    @Test("takes no visit that an earlier trip led to, and repeats no question of one")
    func lateVisit() throws {
        let earlier = try subject.asked()
        let trip = try subject.asked()
        #expect(subject.visit(after: earlier) == nil)
        #expect(subject.askAgain(earlier) == nil)
        #expect(subject.course.isUnderWay(trip))
        #expect(subject.visit(after: trip) == trip + 1)
    }
}
