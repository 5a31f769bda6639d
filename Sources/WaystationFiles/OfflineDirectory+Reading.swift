import Foundation
import Synchronization

extension OfflineDirectory {
    /// A file that was found: kept in memory, or not.
    enum FoundContent {
        case resident(ResidentFile)
        case passing(Representation)

        var representation: Representation {
            switch self {
            case .resident(let file): file.representation
            case .passing(let representation): representation
            }
        }
    }

    func content(of file: StampedFile) throws(OfflineDirectoryError) -> FoundContent {
        let path = ExactPath(file.path)
        if let resident = residents.withLock({ $0.file(at: path, stamp: file.stamp) }) { return .resident(resident) }
        // The clock is read before the file: a write after this moment changes any stamp that was settled at this
        // moment.
        let moment = now()
        guard file.stamp.size <= options.residentFileLimit else {
            return .passing(try largeRepresentation(of: file, at: moment))
        }
        let bytes = try file.read(at: 0, count: file.stamp.size)
        var fingerprinter = Fingerprinter()
        fingerprinter.take(bytes)
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        let representation = try representation(
            of: file,
            fingerprint: fingerprinter.finish(),
            content: .memory(bytes),
            at: moment
        )
        guard file.stamp.isSettled(at: moment) else { return .passing(representation) }
        let resident = ResidentFile(path: path, stamp: file.stamp, representation: representation)
        return .resident(residents.withLock { $0.keep(resident) })
    }

    private func largeRepresentation(
        of file: StampedFile,
        at moment: FileTime
    ) throws(OfflineDirectoryError) -> Representation {
        let fingerprint: Fingerprint
        if let known = fingerprints.withLock({ $0[file.stamp] }) {
            fingerprint = known
        } else {
            fingerprint = try self.fingerprint(of: file)
            if file.stamp.isSettled(at: moment) {
                fingerprints.withLock { $0[file.stamp] = fingerprint }
            }
        }
        return try representation(
            of: file,
            fingerprint: fingerprint,
            content: .file(file, chunkSize: chunkSize),
            at: moment
        )
    }

    private func fingerprint(of file: StampedFile) throws(OfflineDirectoryError) -> Fingerprint {
        var fingerprinter = Fingerprinter()
        var offset = 0
        while offset < file.stamp.size {
            let bytes = try file.read(at: offset, count: min(chunkSize, file.stamp.size - offset))
            fingerprinter.take(bytes)
            offset += bytes.count
        }
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        return fingerprinter.finish()
    }

    private var chunkSize: Int { max(options.chunkSize, 1) }

    /// Makes the representation of a file for its answers; throws if the file differs from its pin.
    private func representation(
        of file: StampedFile,
        fingerprint: Fingerprint,
        content: Representation.Content,
        at moment: FileTime
    ) throws(OfflineDirectoryError) -> Representation {
        let pin = pins?[file.path]
        if pins != nil, pin?.digest != fingerprint.digest { throw .damaged(file.path) }
        return Representation(
            content: content,
            length: file.stamp.size,
            entityTag: fingerprint.entityTag,
            // RFC 9110 section 8.8.2.1: the date must never be later than the answer itself.
            lastModified: pins?.lastModified
                ?? HTTPDate(secondsSinceEpoch: min(file.stamp.modified.seconds, moment.seconds)),
            mediaType: pin?.mediaType
                ?? MediaType.mediaType(
                    forFileName: file.path,
                    leadingBytes: fingerprint.leadingBytes,
                    restIsUTF8: fingerprint.isUTF8
                )
        )
    }
}
