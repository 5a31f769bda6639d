import Foundation
import Synchronization
import WaystationCookies
import WaystationFields
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The side effects of ``LoginState``: calls of the provider, time limits, and the completions of those who wait.
extension LoginSession {
    /// A waiting request, which can stop waiting.
    struct Waiting: Sendable {
        fileprivate let session: LoginSession
        fileprivate let waiter: LoginState.Waiter

        /// Stops waiting; a completion that was not called yet gets a cancellation error.
        func stop() { session.leave(waiter) }
    }

    /// Waits for a login.
    ///
    /// - Parameters:
    ///   - refused: The token that the server refused; nil for a request that was not sent yet.
    ///   - url: The URL of the request, for messages.
    ///   - completion: Called once, on any thread; called at once when there is a login.
    /// - Returns: The waiting request; nil when it does not have to wait.
    func wait(
        refused: String?,
        url: URL?,
        _ completion: @escaping @Sendable (Result<Void, URLError>) -> Void
    ) -> Waiting? {
        // The clock is the app's, and is not called under the lock. The token is read under the lock: otherwise another
        // request's token could arrive after the reading, and the provider would be asked once more.
        let now = setting.withLock { $0?.now }?() ?? .distantPast
        let entry = state.withLock { state in
            let token = cookies?.value(of: id, at: now)
            let entry = state.login.enter(having: token, refused: refused)
            if case .wait(let waiter, _) = entry {
                state.waiters[waiter] = { completion($0.mapError { $0.naming(url) }) }
            }
            return entry
        }
        switch entry {
        case .goOn:
            completion(.success(()))
            return nil
        case .wait(let waiter, let attempt):
            if let attempt { ask(attempt) }
            return Waiting(session: self, waiter: waiter)
        }
    }

    private func leave(_ waiter: LoginState.Waiter) {
        let (tell, attempt, task) = state.withLock { state in
            let attempt = state.login.leave(waiter)
            return (state.waiters.removeValue(forKey: waiter), attempt, state.takeQuestion(attempt))
        }
        task?.cancel()
        if attempt != nil { report(.abandoned) }
        tell?(.failure(URLError(.cancelled)))
    }

    private func ask(_ attempt: LoginState.Attempt) {
        guard let setting = setting.withLock({ $0 }) else { return }
        report(.asked(attempt.reason))
        // The moment is read before the provider is called: a token from before a log-out is not put into the cookies.
        let moment = setting.cookies.moment()
        let task = Task { [provider] in
            do {
                await self.answer(attempt, try await provider(attempt.reason), setting, moment)
            } catch {
                self.fail(attempt, .loginFailed, "the provider failed: \("\(error)".shown(upTo: 2_000))", error)
            }
        }
        // The attempt may already have been answered or abandoned.
        let isVain = state.withLock { state in
            guard state.login.isAsking(attempt.number) else { return true }
            state.question = (attempt.number, task)
            return false
        }
        if isVain { return task.cancel() }
        setting.schedule(timeout) { [weak self] in self?.expire(attempt) }
    }

    /// Puts a token into the cookies, and into the storages that are kept in step, before any waiting request
    /// continues.
    private func answer(
        _ attempt: LoginState.Attempt,
        _ token: LoginToken,
        _ setting: Setting,
        _ moment: CookieStore.Moment
    ) async {
        do throws(CookieError) {
            let now = setting.now()
            let cookie = try cookie.holding(token, now: now)
            guard !cookie.isExpired(at: now) else {
                let what = "the provider's token has already expired; return one that is still valid"
                return fail(attempt, .loginFailed, what, WaystationError(.loginFailed, what))
            }
            guard state.withLock({ $0.login.settle(attempt.number) }) else { return }
            state.withLock { $0.partitions.note(token.value, of: account, for: attempt.reason) }
            guard try setting.cookies.insert(cookie, of: account, asOf: moment) else {
                return tell(attempt, .failure(.loggedOut(nil)))
            }
        } catch {
            let reason = "\(error)".shown(upTo: 2_000)
            return fail(attempt, .loginFailed, "the provider's token cannot be sent: \(reason)", error)
        }
        await setting.cookies.synchronizeStorages()
        report(.loggedIn(attempt.reason))
        tell(attempt, .success(()))
    }

    private func fail(_ attempt: LoginState.Attempt, _ code: WaystationError.Code, _ what: String, _ cause: any Error) {
        guard state.withLock({ $0.login.settle(attempt.number) }) else { return }
        report(.failed(cause))
        tell(attempt, .failure(error(code, what, cause)))
    }

    private func expire(_ attempt: LoginState.Attempt) {
        let (waiters, task) = state.withLock { state in
            let waiters = state.login.expire(attempt.number)
            return (waiters.map { state.takeWaiters($0) }, waiters.flatMap { _ in state.takeQuestion(attempt) })
        }
        guard let waiters else { return }
        task?.cancel()
        report(.timedOut)
        let error = error(.loginTimedOut, "its provider returned no token within \(timeout)", nil)
        for waiter in waiters { waiter(.failure(error)) }
    }

    private func tell(_ attempt: LoginState.Attempt, _ result: Result<Void, URLError>) {
        let waiters = state.withLock { state in
            _ = state.takeQuestion(attempt)
            return state.takeWaiters(state.login.finish(attempt.number))
        }
        for waiter in waiters { waiter(result) }
    }

    /// Ends all waiting, because the user logged out.
    func endWaiting() {
        let (waiters, task) = state.withLock { state in
            let (waiters, attempt) = state.login.logOut()
            return (state.takeWaiters(waiters), state.takeQuestion(attempt))
        }
        task?.cancel()
        for waiter in waiters { waiter(.failure(.loggedOut(nil))) }
    }

    private func error(_ code: WaystationError.Code, _ what: String, _ cause: (any Error)?) -> URLError {
        let message = "the login of \(account) for \(cookie.domain) failed: \(what)"
        return URLError(
            .userAuthenticationRequired,
            failing: nil,
            message,
            underlying: WaystationError(code, message, cause: cause)
        )
    }
}

extension LoginSession.State {
    /// Removes and returns the call of the provider if it belongs to the attempt.
    fileprivate mutating func takeQuestion(_ attempt: LoginState.Attempt?) -> Task<Void, Never>? {
        guard let attempt, question?.number == attempt.number else { return nil }
        defer { question = nil }
        return question?.task
    }

    fileprivate mutating func takeWaiters(
        _ waiters: [LoginState.Waiter]
    ) -> [@Sendable (Result<Void, URLError>) -> Void] {
        waiters.compactMap { self.waiters.removeValue(forKey: $0) }
    }
}

extension URLError {
    /// The error of a load that a log-out has ended.
    static func loggedOut(_ url: URL?) -> URLError {
        let message = "the user logged out while this load was under way; load it again"
        return URLError(
            .userCancelledAuthentication,
            failing: url,
            message,
            underlying: WaystationError(.loggedOut, message)
        )
    }

    /// The same error for a URL.
    fileprivate func naming(_ url: URL?) -> URLError {
        URLError(code, failing: url, localizedDescription, underlying: userInfo[NSUnderlyingErrorKey] as? any Error)
    }
}
