import Foundation
import Measuring
import Testing

@Suite("Figures")
struct FigureTests {
    @Test(
        "the median is the middle value, or the mean of the two middle ones",
        arguments: [
            ([], nil), ([3], 3), ([9, 1, 2], 2), ([4, 1, 3, 2], 2.5),
        ] as [([Double], Double?)]
    )
    func medians(values: [Double], expected: Double?) {
        #expect(median(values) == expected)
    }

    @Test("ways run in turn, and the first turn does not count")
    func interleaves() async throws {
        var order: [String] = []
        var costs: [Double] = [1_000, 1, 2, 3]
        let medians = try await interleaved(
            rounds: 3,
            [
                {
                    order.append("a")
                    return costs.removeFirst()
                },
                {
                    order.append("b")
                    return 7
                },
            ]
        )
        #expect(order == ["a", "b", "a", "b", "a", "b", "a", "b"])
        #expect(medians == [2, 7])
    }

    @Test(
        "the value as printed is compared with its limit",
        arguments: [
            (1.1504, 1.15, Figure.Bound.atMost, true),
            (1.1506, 1.15, .atMost, false),
            (0.7996, 0.8, .atLeast, true),
            (0.7994, 0.8, .atLeast, false),
            (.nan, 1, .atMost, false),
        ]
    )
    func limits(value: Double, limit: Double, bound: Figure.Bound, isKept: Bool) {
        #expect(Figure("x", value, limit: limit, bound: bound).keepsLimit == isKept)
    }

    @Test("a figure is one line of JSON")
    func lines() throws {
        let figure = Figure("a/b", 1.0703, limit: 1.15, against: ["b-us": 57, "a-us": 61.25])
        #expect(
            figure.line
                == #"{"name":"a/b","value":1.07,"unit":"ratio","limit":1.15,"ok":true,"against":{"a-us":61.25,"b-us":57}}"#
        )
        #expect(Figure("m", 10, unit: "MiB").line == #"{"name":"m","value":10,"unit":"MiB"}"#)
        #expect(Figure("t", 0.5, limit: 0.8, bound: .atLeast).line.contains(#""least":0.8,"ok":false"#))
        _ = try JSONSerialization.jsonObject(with: Data(figure.line.utf8))
    }

    @Test("fingerprints differ for different bodies and do not depend on their pieces (FNV-1a of \"hello\")")
    func fingerprints() {
        var cut = Fingerprint(Data("he".utf8))
        cut.append(Data("llo".utf8))
        #expect(cut == Fingerprint(Data("hello".utf8)))
        #expect("\(cut)" == "5 bytes a430d84680aabd0b")
        #expect(cut != Fingerprint(Data("hallo".utf8)))
    }

    @Test("bodies of a pattern have the given length, can be made again, and differ by number")
    func patterns() {
        #expect(Pattern.body(1, count: 1_001).count == 1_001)
        #expect(Pattern.body(1, count: 1_001) == Pattern.body(1, count: 1_001))
        #expect(Pattern.body(1, count: 1_001) != Pattern.body(2, count: 1_001))
        #expect(Pattern.body(3, count: 0).isEmpty)
        // Otherwise bodies of different numbers could differ only in their length.
        #expect(Set((0..<2_000).map { Pattern.body($0, count: 16) }).count == 2_000)
    }

    @Test("the memory of this process can be read")
    func memory() {
        #expect(ProcessMemory.residentMiB > 1)
        #expect(ProcessMemory.peakMiB >= ProcessMemory.residentMiB - 1)
    }
}
