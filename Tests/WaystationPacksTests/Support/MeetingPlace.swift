import Foundation
import WaystationStorage

/// A place for processes of a test to wait for one another: named pipes, kept open so that no signal is lost.
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

/// The part of the meeting place that each process receives.
struct Meeting: Codable, Sendable {
    enum Moment: String, CaseIterable { case isReady, wasRefused }

    let folder: URL

    /// Announces that a moment has come.
    func arrive(at moment: Moment) throws {
        let pipe = try open(moment)
        guard write(pipe.descriptor, "!", 1) == 1 else { throw FileError("write", pipe.path) }
    }

    /// Waits until another process announces the moment; if it never does, the test fails instead of hanging.
    func wait(for moment: Moment) throws {
        let pipe = try open(moment)
        var poll = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard Foundation.poll(&poll, 1, 600_000) == 1, read(pipe.descriptor, &byte, 1) == 1 else {
            throw FileError("wait at", pipe.path, code: ETIMEDOUT)
        }
    }

    fileprivate func pipe(_ moment: Moment) -> String { folder.appending(path: moment.rawValue).path }

    /// Opens the pipe at both ends, so that opening does not block.
    fileprivate func open(_ moment: Moment) throws -> OpenFile {
        let descriptor = Foundation.open(pipe(moment), O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("open", pipe(moment)) }
        return OpenFile(descriptor: descriptor, path: pipe(moment))
    }
}
