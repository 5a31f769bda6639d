import Foundation

/// The memory and the descriptors of this process, as the kernel reports them.
public enum ProcessMemory {
    /// The resident memory now, in MiB.
    public static var residentMiB: Double { read("VmRSS") }

    /// The peak of the resident memory, in MiB.
    public static var peakMiB: Double { read("VmHWM") }

    /// The number of descriptors that are open now.
    public static var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
    }

    private static func read(_ field: String) -> Double {
        // Files of /proc report a size of 0, so the file is read to its end instead of being mapped.
        guard let file = FileHandle(forReadingAtPath: "/proc/self/status"), let data = try? file.readToEnd() else {
            return .nan
        }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") where line.hasPrefix("\(field):") {
            let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
            return (kibibytes ?? .nan) / 1024
        }
        return .nan
    }
}
