import Foundation
import HTTPTypes
import Synchronization
import WaystationFields
import WaystationFileSystem

extension OfflineDirectory {
    func resident(path: String, isHead: Bool) -> FileAnswer? {
        let spelling = ExactPath(path)
        guard let file = residents.withLock({ $0.file(spelled: spelling) }) else { return nil }
        // A pinned file was checked against its digest when it was read, and is never written again.
        if pins != nil { return isHead ? file.headAnswer : file.getAnswer }
        var status = stat()
        // `fstatat` follows links that may have replaced directories since the file was opened. Following them does no
        // harm: the bytes in memory were read from below the root, and they are served only if inode and times are
        // unchanged.
        guard fstatat(rootDirectory.descriptor, file.path.text, &status, AT_SYMLINK_NOFOLLOW) == 0,
            FileStamp(status) == file.stamp
        else {
            residents.withLock { $0.remove(file) }
            return nil
        }
        return isHead ? file.headAnswer : file.getAnswer
    }

    func answer(_ request: FileRequest, names: [String]) -> FileOutcome {
        let namesDirectory = names.isEmpty || request.path.utf8.last == UInt8(ascii: "/")
        switch rootDirectory.locate(names) {
        case .file(let file):
            // The path of a file has no trailing slash.
            return namesDirectory ? .notFound : answer(request, file: file, spelling: request.path)
        case .directory(let directory):
            return answer(request, names: names, directory: directory, isRedirected: !namesDirectory)
        case .missing: return .notFound
        case .refused(let reason): return .refused(PathRefusal(reason: reason, path: request.path))
        case .failed(let error): return .failed(error)
        }
    }

    /// Answers with the first index document that exists in the directory.
    private func answer(
        _ request: FileRequest,
        names: [String],
        directory: OpenFile,
        isRedirected: Bool
    ) -> FileOutcome {
        for (index, document) in options.indexDocuments.enumerated() {
            switch directory.locate([document]) {
            case .file(let file):
                if isRedirected, let name = names.last {
                    return .answer(.redirect(toFolder: OfflinePath.encoded(name), request.query))
                }
                let beneath = StampedFile(
                    file: file.file,
                    stamp: file.stamp,
                    path: (names + [document]).joined(separator: "/")
                )
                // Only the first index document may be remembered under the directory's path: before any other one, an
                // earlier one could appear.
                return answer(request, file: beneath, spelling: index == 0 ? request.path : nil)
            case .directory, .missing: continue
            case .refused(let reason): return .refused(PathRefusal(reason: reason, path: request.path))
            case .failed(let error): return .failed(error)
            }
        }
        return .notFound
    }

    /// Answers with a file, which may be found in memory under `spelling` afterwards.
    private func answer(_ request: FileRequest, file: StampedFile, spelling: String?) -> FileOutcome {
        do throws(OfflineDirectoryError) {
            let found = try content(of: file)
            if request.isPlain, case .resident(let resident) = found {
                if let spelling { residents.withLock { $0.learn(ExactPath(spelling), for: resident) } }
                return .answer(request.method == .head ? resident.headAnswer : resident.getAnswer)
            }
            return .answer(answer(request, representation: found.representation))
        } catch {
            return .failed(error)
        }
    }

    private func answer(_ request: FileRequest, representation: Representation) -> FileAnswer {
        let precondition = Precondition(
            request.headerFields,
            entityTag: representation.entityTag,
            lastModified: representation.lastModified,
            now: today
        )
        let isHead = request.method == .head
        switch precondition {
        case .failed: return .empty(.preconditionFailed, [:])
        case .notModified: return representation.answerNotModified()
        case .proceed(let honoursRange):
            // Section 14.2: Range is defined for GET only.
            guard honoursRange, !isHead, let range = request.headerFields[.range] else {
                return representation.answer(isHead: isHead)
            }
            switch ByteRange(range, length: representation.length) {
            case .ignored: return representation.answer(isHead: false)
            case .part(let part): return representation.answer(part: part)
            case .unsatisfiable: return representation.answerRangeNotSatisfiable()
            }
        }
    }

    /// The current time in whole seconds; the epoch when the clock is outside HTTP's range.
    var today: HTTPDate {
        HTTPDate(secondsSinceEpoch: now().seconds) ?? .epoch
    }
}
