import Foundation
import Waystation
import WaystationRecording

/// The entries of a recording, and those of them that were used.
struct RecordedEntries {
    /// The answer to the question how a request is answered.
    enum Match {
        /// By this entry.
        case entry(RecordedEntry)
        /// By the network, in place of the entry at this index.
        case again(Int)
        /// The entries with such a request were all used; there are this many.
        case exhausted(Int)
        /// There is no such request; these are the nearest.
        case unknown(nearest: [(name: String, reasons: [String])])
    }

    private let comparison: RequestComparison
    /// Nil for a request whose response has not been recorded.
    private var entries: [RecordedEntry?] = []
    /// The responses of the file's entries, at the indices of the entries; nil for a response that was used, that is
    /// recorded again, or whose body is a file.
    ///
    /// They are made when the recording is opened, so that a load need not make them. An entry does not hold its
    /// response, because reading it there would copy the whole entry.
    private var residents: [ResidentResponse?] = []
    /// The indices of the entries with the same key that were not used, the next one last.
    private var unused: [[ExactText]: [Int]] = [:]
    private var counts: [[ExactText]: Int] = [:]

    init(_ archive: [HARArchive.Entry], _ comparison: RequestComparison, now: Date) {
        self.comparison = comparison
        entries = archive.map { RecordedEntry($0, comparison) }
        residents = entries.map { $0?.makeResident(now: now) }
        for (index, entry) in entries.enumerated() {
            guard let entry else { continue }
            unused[entry.key, default: []].append(index)
            counts[entry.key, default: 0] += 1
        }
        for key in unused.keys {
            // Without an order, the entries are in the order in which they were made.
            unused[key]?.sort { ((entries[$0]?.entry.order ?? 0), $0) > ((entries[$1]?.entry.order ?? 0), $1) }
        }
    }

    /// The entries that are complete, in their order.
    var complete: [HARArchive.Entry] { entries.compactMap { $0?.entry } }

    /// The entries that no request has used.
    var unusedNames: [String] { entries.compactMap { $0 }.filter { !$0.isUsed }.map(\.name) }

    /// Marks entries to be recorded again.
    mutating func markStale(where isStale: (HARArchive.Entry) -> Bool) {
        for index in entries.indices {
            guard let entry = entries[index]?.entry, isStale(entry) else { continue }
            entries[index]?.isStale = true
            if residents.indices.contains(index) { residents[index] = nil }
        }
    }

    /// Uses the next entry for a request, if its response is in memory and need not be recorded again.
    mutating func takeResident(_ key: [ExactText]) -> ResidentResponse? {
        guard let place = unused.index(forKey: key), let index = unused.values[place].last,
            residents.indices.contains(index), let resident = residents[index].take()
        else { return nil }
        unused.values[place].removeLast()
        entries[index]?.isUsed = true
        return resident
    }

    /// Uses the next entry for a request.
    mutating func take(_ key: [ExactText]) -> Match {
        guard let index = unused[key]?.popLast(), let entry = entries[index] else {
            if let count = counts[key] { return .exhausted(count) }
            return .unknown(nearest: nearest(to: key))
        }
        entries[index]?.isUsed = true
        return entry.isStale ? .again(index) : .entry(entry)
    }

    /// Makes a place for a request that is being recorded.
    mutating func reserve() -> Int {
        entries.append(nil)
        return entries.count - 1
    }

    /// Fills a place.
    mutating func fill(_ index: Int, with entry: HARArchive.Entry) {
        entries[index] = RecordedEntry(entry, comparison)
        entries[index]?.isUsed = true
        entries[index]?.isNew = true
    }

    /// The bodies of new entries that get files, with names that differ from those of the present files.
    ///
    /// - Parameters:
    ///   - bodies: The place of the bodies.
    ///   - folder: The name of the folder for the files.
    /// - Returns: The files to be written; the entries still have their bodies.
    func newBodies(_ bodies: RecordedBodies, in folder: String) -> [BodyFile] {
        var used = Set(
            entries.compactMap { $0?.entry.response.content.file }.filter { $0.hasPrefix("\(folder)/") }
                .map { $0.dropFirst(folder.count + 1).lowercased() }
        )
        return entries.enumerated().compactMap { index, recorded in
            guard let recorded, recorded.isNew else { return nil }
            let response = recorded.entry.response
            guard bodies.leavesFile(response.content), let body = try? response.body() else { return nil }
            let name = RecordedBodies.name(of: recorded.entry, besides: &used)
            return BodyFile(ofEntry: index, name: name, body: body)
        }
    }

    /// Replaces the bodies of entries by the names of their files.
    mutating func move(_ files: [BodyFile], into folder: String) {
        for file in files {
            entries[file.entry]?.entry.response.content.file = "\(folder)/\(file.name)"
            entries[file.entry]?.entry.response.content.text = nil
            entries[file.entry]?.entry.response.content.encoding = nil
        }
    }

    /// The new entries that contain a secret of the run, with their errors.
    ///
    /// - Parameters:
    ///   - secrets: The secrets.
    ///   - folder: The folder of the recording, for bodies that already are files.
    /// - Returns: The places of the entries, and the errors.
    func leaks(of secrets: RunSecrets, in folder: URL) -> [(place: Int, error: StubError)] {
        guard !secrets.isEmpty else { return [] }
        return entries.enumerated().compactMap { place, recorded in
            guard let recorded, recorded.isNew, let leak = recorded.entry.leak(of: secrets, in: folder) else {
                return nil
            }
            return (place, .secretFound(leak.secret, of: recorded.entry.request, in: leak.part))
        }
    }

    /// Removes entries; other entries keep their places.
    mutating func remove(_ places: [Int]) {
        for place in places { entries[place] = nil }
    }

    /// The entries with the fewest parts that differ, at most three.
    private func nearest(to key: [ExactText]) -> [(name: String, reasons: [String])] {
        let parts = comparison.parts
        let candidates = entries.compactMap { $0 }.map { entry in
            (
                entry: entry,
                different: parts.indices.filter { entry.key[$0] != key[$0] },
                common: zip(parts.indices, entry.key).map { key[$0].text.commonPrefix(with: $1.text).count }.reduce(
                    0,
                    +
                )
            )
        }
        return candidates.enumerated()
            .sorted {
                ($0.element.different.count, -$0.element.common, $0.offset)
                    < ($1.element.different.count, -$1.element.common, $1.offset)
            }
            .prefix(3).map { candidate in
                let (entry, different, _) = candidate.element
                return (
                    entry.name,
                    different.map {
                        "\(parts[$0].name) is \(key[$0].text.shortened), not \(entry.key[$0].text.shortened)"
                    }
                )
            }
    }
}

extension HARArchive.Entry {
    /// The first part that still contains a secret, and the secret in words; nil if no part contains one.
    fileprivate func leak(of secrets: RunSecrets, in folder: URL) -> (part: String, secret: String)? {
        var parts: [(name: String, text: [UInt8])] = [("the URL", Array(request.url.utf8))]
        parts += request.headers.map { ("the request's field \($0.name)", Array($0.value.utf8)) }
        parts += request.cookies.map { ("the request's cookie \($0.name)", Array($0.value.utf8)) }
        if let body = request.postData {
            let bytes = body.encoding == nil ? nil : Data(base64Encoded: body.text)
            parts.append(("the request's body", bytes.map(Array.init) ?? Array(body.text.utf8)))
        }
        parts += response.headers.map { ("the response's field \($0.name)", Array($0.value.utf8)) }
        parts += response.cookies.map { ("the response's cookie \($0.name)", Array($0.value.utf8)) }
        parts.append(("the response's field Location", Array(response.redirectURL.utf8)))
        parts.append(("the comment", Array((comment ?? "").utf8)))
        if let body = try? response.body(in: folder) { parts.append(("the response's body", Array(body))) }
        for part in parts {
            if let secret = secrets.first(in: part.text) { return (part.name, secret) }
        }
        return nil
    }
}
