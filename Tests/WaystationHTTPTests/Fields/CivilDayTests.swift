import Testing
import WaystationHTTP

@Suite("A day of the calendar")
struct CivilDayTests {
    @Test("each day from the year 0 to 9999 follows the one before, and converts back to itself")
    func everyDay() throws {
        var (year, month, day) = (0, 1, 1)
        for number in -719_528...2_932_896 {
            let civil = CivilDay(daysSinceEpoch: number)
            // One check instead of an expectation for each day: three million expectations take long.
            guard civil.year == year, civil.month == month, civil.day == day, civil.daysSinceEpoch == number,
                CivilDay(year: year, month: month, day: day) == civil
            else {
                Issue.record("day \(number) is \(civil), not \(year)-\(month)-\(day)")
                return
            }
            let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
            let length = month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
        #expect((year, month, day) == (10_000, 1, 1))
    }

    @Test(
        "a date that the calendar does not have gives nil",
        arguments: [
            (2023, 2, 29), (1900, 2, 29), (2024, 2, 30), (2023, 4, 31), (2023, 0, 1), (2023, 13, 1), (2023, 1, 0),
            (2023, 1, 32), (-1, 1, 1), (10_000, 1, 1), (.max, 1, 1), (.min, .min, .max),
        ]
    )
    func none(_ year: Int, _ month: Int, _ day: Int) {
        #expect(CivilDay(year: year, month: month, day: day) == nil)
    }
}
