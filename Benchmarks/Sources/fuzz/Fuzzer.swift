import CLibFuzzer
import Foundation
import Synchronization

/// Passes a target to libFuzzer, or runs it on files when the tool was built without instrumentation.
enum Fuzzer {
    /// The target that the C functions below run.
    private static let current = Mutex<(any FuzzTarget)?>(nil)

    /// Runs with libFuzzer's own options and folders; does not return when libFuzzer is linked.
    static func run(_ target: any FuzzTarget, options: [String]) throws -> Int32 {
        current.withLock { $0 = target }
        var options = options
        if let corpus = options.first(where: { !$0.hasPrefix("-") && isDirectory($0) }) {
            for (number, seed) in try target.seeds().enumerated() {
                try seed.write(to: URL(fileURLWithPath: corpus).appending(path: "seed-\(number)"))
            }
        }
        if !options.contains(where: { $0.hasPrefix("-max_len=") }) {
            options.append("-max_len=\(target.maximumLength)")
        }
        // The C side uses the arguments until the process ends, so they are never freed.
        let arguments = (["fuzz"] + options).map { strdup($0) }
        let list = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
        list.initialize(from: arguments + [nil], count: arguments.count + 1)
        var (count, pointer): (Int32, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) = (
            Int32(arguments.count), list
        )
        let status = fuzz_run(
            &count,
            &pointer,
            { bytes, count in
                Fuzzer.test(UnsafeBufferPointer(start: bytes, count: count))
                return 0
            },
            { bytes, count, capacity, seed in
                guard let bytes else { return 0 }
                return Fuzzer.mutate(UnsafeMutableBufferPointer(start: bytes, count: capacity), count, UInt64(seed))
            }
        )
        guard status == -1 else { return status }
        for file in options where !file.hasPrefix("-") && !isDirectory(file) {
            try target.run(Data(contentsOf: URL(fileURLWithPath: file)))
            print("\(file): nothing found")
        }
        for (number, seed) in try target.seeds().enumerated() {
            try target.run(seed)
            print("seed \(number): nothing found")
        }
        return 0
    }

    private static func test(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let target = current.withLock({ $0 }) else { return }
        do {
            try target.run(Data(bytes))
        } catch {
            // libFuzzer treats the signal as a finding, and keeps the input.
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            abort()
        }
    }

    /// Mutates an input: two times in three with the target's own damage, if it has any, otherwise with libFuzzer's.
    private static func mutate(_ bytes: UnsafeMutableBufferPointer<UInt8>, _ count: Int, _ seed: UInt64) -> Int {
        var random = SeededGenerator(seed: seed)
        if let target = current.withLock({ $0 }), Int.random(in: 0..<3, using: &random) > 0,
            let mutated = target.mutated(Array(bytes[..<count]), using: &random), mutated.count <= bytes.count
        {
            _ = bytes.update(fromContentsOf: mutated)
            return mutated.count
        }
        return fuzz_mutate(bytes.baseAddress, count, bytes.count)
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory = ObjCBool(false)
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}
