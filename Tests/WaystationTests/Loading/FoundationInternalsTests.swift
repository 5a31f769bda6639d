import Dispatch
import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

/// These tests fail when a toolchain changes the properties that `FoundationInternals` reads by reflection.
///
/// Until `FoundationInternals` is adapted, loads use public API only and are slower.
@Suite("Private properties of URLSession")
struct FoundationInternalsTests {
    private let url = URL(fileURLWithPath: "/")

    @Test("every kind of task shows its work queue and its session", arguments: ["data", "upload", "download"])
    func queueAndSession(kind: String) throws {
        let session = URLSession(configuration: .default)
        let request = URLRequest(url: url)
        let task: URLSessionTask =
            switch kind {
            case "upload": session.uploadTask(with: request, from: Data())
            case "download": session.downloadTask(with: request)
            default: session.dataTask(with: request)
            }
        let queue = try #require(FoundationInternals.workQueue(of: task))
        #expect(queue.label == "org.swift.URLSessionTask.WorkQueue")
        #expect(FoundationInternals.session(of: task) === session)
    }

    @Test("the audience of a task is its completion handler, its delegate, or no recipient")
    func audience() throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        let handled = session.dataTask(with: url) { _, _, _ in }
        let delegated = session.dataTask(with: url)
        let lonely = URLSession(configuration: .default)
        let unheard = lonely.dataTask(with: url)
        func audience(_ task: URLSessionTask, _ session: URLSession) throws -> Audience? {
            // The registry is filled on the work queue.
            try #require(FoundationInternals.workQueue(of: task)).sync {
                try #require(FoundationInternals.TaskRegistry(of: session)).audience(of: task, in: session)
            }
        }
        guard case .completionHandler(nil) = try audience(handled, session) else { Issue.record("handler"); return }
        guard case .delegate(let found) = try audience(delegated, session) else { Issue.record("delegate"); return }
        #expect(found === delegate)
        guard case .noRecipient = try audience(unheard, lonely) else {
            Issue.record("a task without a handler and a delegate has a recipient")
            return
        }
    }
}
