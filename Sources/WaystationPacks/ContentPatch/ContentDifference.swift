/// Compares two versions of a pack: the files that the old version already has, and those that a patch must bring.
struct ContentDifference: Sendable {
    /// Files whose content the base has, each with the file of the base that has it.
    private(set) var kept: [(file: PackedFile, base: PackedFile)] = []
    /// The new stream: files whose content the base does not have, each content once.
    private(set) var new: [PackedFile] = []
    /// Files that have the same content as an earlier file of the new stream.
    private(set) var repeated: [(file: PackedFile, first: PackedFile)] = []
    /// The old stream: files of the base whose content the result does not have.
    let old: [PackedFile]

    init(from base: PackManifest, to result: PackManifest) {
        let byDigest = Dictionary(base.files.map { ($0.sha256, $0) }) { first, _ in first }
        let wanted = Set(result.files.map(\.sha256))
        old = base.files.filter { !wanted.contains($0.sha256) }
        var made: [String: PackedFile] = [:]
        for file in result.files {
            if let there = byDigest[file.sha256], there.size == file.size {
                kept.append((file, there))
            } else if let first = made[file.sha256], first.size == file.size {
                repeated.append((file, first))
            } else {
                made[file.sha256] = file
                new.append(file)
            }
        }
    }

    /// The length of the new stream in bytes; nil when it overflows `Int`.
    var newSize: Int? {
        new.reduce(0 as Int?) { sum, file in
            guard let sum else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(file.size)
            return overflow ? nil : total
        }
    }
}
