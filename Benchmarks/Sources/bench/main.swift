// Measures Waystation beside other programs and ways to load, and prints one JSON object per line.
//
//   bench [NAME]        all measurements, or the one with that name

import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "--large" {
    guard arguments.count == 4, let way = LargeLoad.Way(rawValue: arguments[1]) else {
        say("--large needs a way, a URL and a directory")
        exit(2)
    }
    try await LargeLoad.runChild(way, arguments[2], root: arguments[3])
    exit(0)
}

if arguments.first == "--endless" {
    guard arguments.count == 4, let way = LargeLoad.Way(rawValue: arguments[1]) else {
        say("--endless needs a way, a URL and a directory")
        exit(2)
    }
    try await LargeLoad.runEndless(way, arguments[2], root: arguments[3])
    exit(0)
}

if arguments.first == "--purged" {
    guard arguments.count == 5, let port = Int(arguments[2]) else {
        say("--purged needs a directory, the port of a Redis server, a kind and a file")
        exit(2)
    }
    try await PurgedMachine.runChild(arguments[1], port, isSoft: arguments[3] == "soft", ready: arguments[4])
    exit(0)
}

if arguments.first == "--tool" {
    try await PackTool.run(Array(arguments.dropFirst()))
    exit(0)
}

let only = arguments.first
let chosen = Benchmark.all.filter { only == nil || $0.names.contains { $0 == only } }
guard !chosen.isEmpty else {
    say("unknown measurement \(only ?? ""); there are: \(Benchmark.all.flatMap(\.names).joined(separator: ", "))")
    exit(2)
}

say(Environment.line)
var missed: [String] = []
for benchmark in chosen {
    do {
        for figure in try await benchmark.run() {
            say(figure.line)
            if !figure.keepsLimit { missed.append(figure.name) }
        }
    } catch {
        // No number was measured, so none is printed.
        FileHandle.standardError.write(Data("\(benchmark.names.joined(separator: ", ")): \(error)\n".utf8))
        missed += benchmark.names
    }
}
if !missed.isEmpty {
    FileHandle.standardError.write(Data("limits not kept or not measured: \(missed.joined(separator: ", "))\n".utf8))
    exit(1)
}
