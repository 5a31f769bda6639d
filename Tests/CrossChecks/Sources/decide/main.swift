// Reports what Waystation does in conversations. Each conversation is a line of JSON on standard input; its reports are
// written as one line to standard output before the next conversation is read.

import Foundation

let encoder = JSONEncoder()
encoder.outputFormatting = .sortedKeys
while let line = readLine() {
    let conversation = try JSONDecoder().decode(Conversation.self, from: Data(line.utf8))
    var cache = Cache()
    let reports = try conversation.steps.enumerated().map { try cache.take($1, number: $0) }
    try FileHandle.standardOutput.write(contentsOf: encoder.encode(reports) + Data("\n".utf8))
}
