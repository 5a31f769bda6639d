import Foundation
import FoundationNetworking
import Synchronization
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// The answers that were removed on one machine, by their paths.
final class Removals: Sendable {
    private let last = Mutex<[String: Int]>([:])

    /// The number of the last removed answer of a path.
    func last(of path: String) -> Int { last.withLock { $0[path] ?? 0 } }

    /// Records that the answers of a path up to a number are removed.
    func note(_ path: String, upTo answer: Int) { last.withLock { $0[path] = max($0[path] ?? 0, answer) } }
}

/// The app of one account on one machine.
final class FleetPlayer: Sendable {
    enum Move: CaseIterable {
        case page, markedPage, heldPage, logOut, revoke, setCookie, remove, change, forget

        static func random(using generator: inout SeededGenerator) -> Move {
            // Most moves load pages.
            let all: [Move] = allCases + [.page, .page, .markedPage, .markedPage, .markedPage, .heldPage]
            return all.randomElement(using: &generator) ?? .page
        }
    }

    private let account: FleetAccount
    private let cache: ResponseCache
    private let removals: Removals
    private let login: LoginSession
    private let cookies: CookieStore
    private let session: URLSession
    private let deadToken = Atomic(0)

    init(_ account: FleetAccount, _ cache: ResponseCache, _ removals: Removals, _ clock: ManualClock) throws {
        let cookies = CookieStore()
        let login = LoginSession(account: account.name, cookie: .named("token", domain: "shop.example")) { _ in
            await account.signIn()
        }
        let network = ScriptedTransport { account.answer($0) }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .cache(.standard), requiresLogin: .marked)]
            $0.cache = cache
            $0.cookies = cookies
            $0.login = login
            $0.makeTransport = { _ in network }
            $0.schedule = clock.schedule
        }
        (self.account, self.cache, self.removals) = (account, cache, removals)
        (self.login, self.cookies) = (login, cookies)
        session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    /// Makes a move.
    ///
    /// - Parameters:
    ///   - move: The move.
    ///   - number: The number of the page; with several, most are not on this machine yet.
    func make(_ move: Move, _ number: Int) async {
        switch move {
        case .page: await load("/page/\(number)")
        case .markedPage: await load("/marked/\(number)", "?needAuth=true")
        case .heldPage: await load("/held", "?needAuth=true")
        case .logOut:
            let dead = account.endTokens()
            await login.logOut()
            deadToken.max(dead, ordering: .sequentiallyConsistent)
        case .revoke: account.revoke()
        case .setCookie:
            // The same for both accounts: the servers tell them apart, and the requests do not.
            guard let cookie = try? Cookie(name: "theme", value: "dark", domain: "shop.example", creation: Date())
            else { return }
            try? cookies.insert(cookie)
        case .remove: await remove("/page/\(number)")
        case .change: await change("/page/\(number)")
        // The machine loses its own copies, so that the next loads get those of the tier.
        case .forget: _ = try? await cache.remove(olderThan: .zero)
        }
    }

    private func url(_ path: String, _ query: String = "") -> URL? {
        URL(string: "https://shop.example\(path)\(query)")
    }

    private func load(_ path: String, _ query: String = "") async {
        guard let url = url(path, query) else { return }
        let begun = FleetAccount.Begun(
            deadToken: deadToken.load(ordering: .sequentiallyConsistent),
            removedAnswer: removals.last(of: path)
        )
        do {
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? ""
            account.noteDelivery(String(decoding: data, as: UTF8.self), status: status, begun: begun)
        } catch {
            account.noteFailure(error)
        }
    }

    private func remove(_ path: String) async {
        guard let url = url(path) else { return }
        let answer = FleetAccount.lastAnswer
        _ = try? await cache.remove(url)
        removals.note(path, upTo: answer)
    }

    /// Changes a page by a method that is not safe.
    private func change(_ path: String) async {
        guard let url = url(path) else { return }
        let answer = FleetAccount.lastAnswer
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        guard let (_, response) = try? await session.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200
        else { return }
        removals.note(path, upTo: answer)
    }
}
