import ArgumentParser

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Tries out one trap in this process, which may crash; for the doctor alone.
struct TrapCommand: AsyncParsableCommand {
    static let name = "doctor-trap"
    /// The exit code for a load that went wrong; the reason is on standard output.
    static let wrong: Int32 = 9

    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    @Argument
    var trap: Trap

    @Option
    var way: Trap.Way

    func run() async throws {
        // A crash leaves no file behind.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        guard let fault = try await TrapLoads(way).fault(of: trap) else { return }
        try Console.write(fault)
        throw ExitCode(Self.wrong)
    }
}
