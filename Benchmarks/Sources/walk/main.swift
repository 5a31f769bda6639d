/// Walks one way through the library several times, for Scripts/walk.py, which counts what a reader of this way opens:
/// `walk NAME COUNT`.
import Foundation

guard CommandLine.arguments.count == 3, let way = Ways.all[CommandLine.arguments[1]],
    let count = Int(CommandLine.arguments[2])
else {
    print("usage: walk \(Ways.all.keys.sorted().joined(separator: "|")) COUNT")
    exit(2)
}
try await way(count)
