import Glibc
import Testing

@testable import Schedule

/// The dates of a line, and the program from outside.
@Suite(.timeLimit(.minutes(15))) struct ScheduleTests {
    // MARK: Dates

    @Test(arguments: [
        ("* * * * * *", "2026-11-23 10:00:01"), ("0 * * * * *", "2026-11-23 10:01:00"),
        ("*/15 * * * * *", "2026-11-23 10:00:15"), ("0 30 9 * * 1-5", "2026-11-24 09:30:00"),
        ("0 0 0 1 1 *", "2027-01-01 00:00:00"), ("0 0 12 * * 0,6", "2026-11-28 12:00:00"),
        ("0 0 0 29 2 *", "2028-02-29 00:00:00"), ("5,7 0 10 23 11 *", "2026-11-23 10:00:05"),
        ("0 10-50/20 * * * *", "2026-11-23 10:10:00"), ("0 0 10 * * 1", "2026-11-30 10:00:00"),
    ])
    func aLineHasANextDate(line: String, expected: String) throws {
        let expression = try CronExpression(line.split(separator: " "))
        let start = date("2026-11-23 10:00:00")
        #expect(expression.next(after: start) == date(expected))
    }

    @Test func aDateThatNeverComesIsNone() throws {
        let expression = try CronExpression("0 0 0 30 2 *".split(separator: " "))
        #expect(expression.next(after: date("2026-11-23 10:00:00")) == nil)
    }

    @Test func datesOfAYearAreAllFound() throws {
        let expression = try CronExpression("0 0 12 * * *".split(separator: " "))
        var (next, count) = (date("2026-01-01 00:00:00"), 0)
        while let following = expression.next(after: next), following < date("2027-01-01 00:00:00")
        {
            (next, count) = (following, count + 1)
        }
        #expect(count == 365)
    }

    @Test(arguments: [
        "", "* * * * *", "60 * * * * *", "* * 24 * * *", "* * * 0 * *", "* * * * 13 *",
        "* * * * * 7", "*/0 * * * * *", "5-2 * * * * *", "1-2-3 * * * * *", "a * * * * *",
        "1/2/3 * * * * *", ", * * * * *", "-1 * * * * *",
    ])
    func aWrongLineIsRefused(line: String) {
        #expect(throws: CronExpression.Misuse.self) {
            try CronExpression(line.split(separator: " "))
        }
    }

    // MARK: The program

    @Test func commandsRunAndAreReadAgain() throws {
        let folder = TemporaryFolder()
        folder.write("# Every second.\n* * * * * * echo tick\n", to: "table")
        let schedule = try ChildProgram("Schedule", [folder.path + "/table"])
        #expect(schedule.nextLine()?.hasPrefix("Schedule: 1 commands from ") == true)
        awaitLine("tick", of: schedule)
        awaitLine("tick", of: schedule)
        folder.write("wrong\n", to: "table")
        schedule.signal(SIGHUP)
        awaitLine("Schedule: \(folder.path)/table: wrong: expected six fields", of: schedule)
        awaitLine("tick", of: schedule)
        folder.write("* * * * * * echo tock\n", to: "table")
        schedule.signal(SIGHUP)
        awaitLine("tock", of: schedule)
        schedule.signal(SIGTERM)
        #expect(schedule.wait() == 0)
    }

    @Test func linesMayEndAsOnOtherSystems() throws {
        let folder = TemporaryFolder()
        folder.write("* * * * * * echo tick\r\n* * * * * * echo tock\r\n", to: "table")
        let schedule = try ChildProgram("Schedule", [folder.path + "/table"])
        #expect(schedule.nextLine() == "Schedule: 2 commands from \(folder.path)/table")
        // It may not be prepared for another signal yet.
        schedule.signal(SIGKILL)
        #expect(schedule.wait() == -SIGKILL)
    }

    @Test func theEndWaitsForWhatRuns() throws {
        let folder = TemporaryFolder()
        folder.write("* * * * * * echo begin; sleep 1; echo end\n", to: "table")
        let schedule = try ChildProgram("Schedule", [folder.path + "/table"])
        awaitLine("begin", of: schedule)
        schedule.signal(SIGTERM)
        #expect(schedule.rest().contains("end\n"))
        #expect(schedule.wait() == 0)
    }

    @Test func aFileThatIsMissingIsToldInASentence() throws {
        let schedule = try ChildProgram("Schedule", ["/nonexistent"])
        #expect(schedule.rest() == "Schedule: /nonexistent: No such file or directory\n")
        #expect(schedule.wait() == 1)
    }

    /// At the start and later; later the present commands stay.
    @Test func aFileWithoutCommandsIsRefused() throws {
        let folder = TemporaryFolder()
        folder.write("# Nothing yet.\n", to: "table")
        let first = try ChildProgram("Schedule", [folder.path + "/table"])
        #expect(first.rest() == "Schedule: \(folder.path)/table: no commands\n")
        #expect(first.wait() == 1)
        folder.write("* * * * * * echo tick\n", to: "table")
        let schedule = try ChildProgram("Schedule", [folder.path + "/table"])
        awaitLine("tick", of: schedule)
        folder.write("", to: "table")
        schedule.signal(SIGHUP)
        awaitLine("Schedule: \(folder.path)/table: no commands", of: schedule)
        awaitLine("tick", of: schedule)
        schedule.signal(SIGTERM)
        #expect(schedule.wait() == 0)
    }

    @Test func aFolderIsToldInASentence() throws {
        let schedule = try ChildProgram("Schedule", ["/tmp"])
        #expect(schedule.rest() == "Schedule: /tmp: Is a directory\n")
        #expect(schedule.wait() == 1)
    }

    private func awaitLine(_ line: String, of program: ChildProgram) {
        while let next = program.nextLine() {
            if next == line { return }
        }
        Issue.record("There is no line \(line).")
    }

    /// A date of the local calendar.
    private func date(_ text: String) -> time_t {
        let numbers = text.split { "- :".contains($0) }.map { CInt($0) ?? 0 }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (
            numbers[0] - 1900, numbers[1] - 1, numbers[2]
        )
        (parts.tm_hour, parts.tm_min, parts.tm_sec) = (numbers[3], numbers[4], numbers[5])
        parts.tm_isdst = -1
        return mktime(&parts)
    }
}
