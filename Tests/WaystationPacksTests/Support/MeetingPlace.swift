import Foundation
import WaystationFileSystem

/// Where processes of a test wait for one another: pipes with names, kept open so that no word is lost.
final class MeetingPlace: Sendable {
    let meeting: Meeting
    private let pipes: [OpenFile]

    init(in folder: URL) throws {
        let meeting = Meeting(folder: folder)
        self.meeting = meeting
        pipes = try Meeting.Moment.allCases.map { moment in
            let path = meeting.pipe(moment)
            guard mkfifo(path, 0o600) == 0 else { throw FileError("make pipe", path) }
            return try meeting.open(moment)
        }
    }
}

/// What each of the processes knows of it.
struct Meeting: Codable, Sendable {
    enum Moment: String, CaseIterable { case isReady, wasRefused }

    let folder: URL

    /// Says that a moment is there.
    func arrive(at moment: Moment) throws {
        let pipe = try open(moment)
        guard write(pipe.descriptor, "!", 1) == 1 else { throw FileError("write", pipe.path) }
    }

    /// Waits until another process says so; one that never does fails the test instead of holding it.
    func wait(for moment: Moment) throws {
        let pipe = try open(moment)
        var poll = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard Foundation.poll(&poll, 1, 600_000) == 1, read(pipe.descriptor, &byte, 1) == 1 else {
            throw FileError("wait at", pipe.path, code: ETIMEDOUT)
        }
    }

    fileprivate func pipe(_ moment: Moment) -> String { folder.appending(path: moment.rawValue).path }

    /// Open at both ends, so that opening waits for nobody.
    fileprivate func open(_ moment: Moment) throws -> OpenFile {
        let descriptor = Foundation.open(pipe(moment), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", pipe(moment)) }
        return OpenFile(descriptor: descriptor, path: pipe(moment))
    }
}
