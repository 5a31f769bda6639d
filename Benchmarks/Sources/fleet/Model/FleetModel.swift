import Foundation

/// A model of a fleet on paper: how many loads each tier answers, and what Redis and the origin get.
///
/// Each machine loads page `i` at random moments, with a mean number in a second. An answer is fresh for the page's
/// lifetime since it left the origin, wherever it is stored, so all copies of it end together. So the time of a page is
/// a row of cycles: the first load of the fleet after the end of an answer asks the origin; while the new answer is
/// fresh, the first load of each other machine gets it from Redis, and all other loads stay on their machine. The next
/// cycle begins with the next load of any machine. Nothing is evicted, and loads take no time.
struct FleetModel {
    struct Page {
        /// The loads in a second of one machine.
        let rate: Double
        /// In seconds.
        let lifetime: Double
    }

    struct Prediction {
        var loads = 0.0
        var own = 0.0
        var shared = 0.0
        /// The requests at the origin.
        var origin = 0.0
        /// The requests at the origin if the machines shared nothing.
        var originAlone = 0.0
        /// The commands that Redis executes, those of its scripts included.
        var commands = 0.0
        /// The messages that Redis delivers to subscribers.
        var messages = 0.0
    }

    /// The commands of a look-up: the root of all, those of the origin and of the URL, and the entry.
    static let lookUp = 4.0
    /// The further commands of a trip to the origin: a lease, a second look-up, the entry, new lifetimes for three roots,
    /// and the end of the lease by two scripts of three and five commands.
    static let trip = 1 + lookUp + 1 + 3 + 3 + 5
    /// The first trip of a URL also makes its root.
    static let firstTrip = 1.0

    let machines: Double
    let pages: [Page]

    /// The numbers of a run that begins with nothing stored, in a time in seconds.
    func run(of time: Double) -> Prediction {
        pages.reduce(into: Prediction()) { sum, page in
            let all = machines * page.rate
            sum.loads += all * time
            let trips = Self.trips(rate: all, page.lifetime, in: time)
            let shared = Self.sum(rate: all, page.lifetime, in: time) {
                (machines - 1) * page.rate * exp(-page.rate * $0)
            }
            sum.origin += trips
            sum.shared += shared
            sum.originAlone += machines * Self.trips(rate: page.rate, page.lifetime, in: time)
            sum.commands +=
                Self.lookUp * shared + (Self.lookUp + Self.trip) * trips + Self.firstTrip * (1 - exp(-all * time))
            sum.messages += trips * machines
        }
        .completed
    }

    /// The numbers of a second, long after the begin.
    var steady: Prediction {
        pages.reduce(into: Prediction()) { sum, page in
            let all = machines * page.rate
            let cycle = page.lifetime + 1 / all
            let shared = (machines - 1) * (1 - exp(-page.rate * page.lifetime)) / cycle
            sum.loads += all
            sum.origin += 1 / cycle
            sum.shared += shared
            sum.originAlone += machines / (page.lifetime + 1 / page.rate)
            sum.commands += Self.lookUp * shared + (Self.lookUp + Self.trip) / cycle
            sum.messages += machines / cycle
        }
        .completed
    }

    /// The expected number of cycles that begin in a time.
    private static func trips(rate: Double, _ lifetime: Double, in time: Double) -> Double {
        cycles(lifetime, in: time).reduce(0) { $0 + begun($1, rate, lifetime, by: time) }
    }

    /// The expected sum, over all cycles of a time, of an integral from the begin of a cycle to the end of its
    /// answer or of the time, whichever is first.
    private static func sum(
        rate: Double,
        _ lifetime: Double,
        in time: Double,
        _ density: (Double) -> Double
    ) -> Double {
        let steps = 200
        return cycles(lifetime, in: time).reduce(0) { sum, cycle in
            let reach = min(lifetime, time - Double(cycle - 1) * lifetime)
            let width = reach / Double(steps)
            return sum
                + (0..<steps).reduce(0) { part, step in
                    let age = (Double(step) + 0.5) * width
                    return part + density(age) * begun(cycle, rate, lifetime, by: time - age) * width
                }
        }
    }

    /// The numbers of the cycles that may begin in a time, from 1.
    private static func cycles(_ lifetime: Double, in time: Double) -> ClosedRange<Int> {
        1...max(1, Int((time / lifetime).rounded(.up)))
    }

    /// The probability that a cycle has begun by a time: that so many waits, each with the mean `1 / rate`, and the
    /// lifetimes between them fit into it.
    private static func begun(_ cycle: Int, _ rate: Double, _ lifetime: Double, by time: Double) -> Double {
        let mean = rate * (time - Double(cycle - 1) * lifetime)
        guard mean > 0 else { return 0 }
        var (term, missing) = (exp(-mean), 0.0)
        for count in 0..<cycle {
            missing += term
            term *= mean / Double(count + 1)
        }
        return max(0, 1 - missing)
    }
}

extension FleetModel.Prediction {
    /// With the loads that are left for the machines themselves.
    fileprivate var completed: Self {
        var prediction = self
        prediction.own = loads - shared - origin
        return prediction
    }
}
