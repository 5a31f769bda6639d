/// How delays in tests pass.
public enum DelayTime: Sendable {
    /// At once: no test waits. A delay counts against the request's `timeoutInterval` all the same.
    case virtual
    /// As on a clock.
    case real
}
