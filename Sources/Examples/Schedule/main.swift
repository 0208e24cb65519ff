// Runs commands at dates of the calendar, as cron does.
//
// Shows wall-clock timers that compute their next date, child processes, a file that is read again
// on SIGHUP, and an end that waits for what runs.

import Glibc
import UVRunLoop

guard CommandLine.arguments.count == 2, !CommandLine.arguments[1].hasPrefix("-") else {
    let line = "SECOND MINUTE HOUR DAY MONTH WEEKDAY COMMAND"
    say("Usage: Schedule FILE\nA line of the file is: \(line)", to: STDERR_FILENO)
    exit(2)
}
let schedule = Schedule(CommandLine.arguments[1], on: .current)
schedule.load()
if schedule.isEmpty { exit(1) }
do {
    schedule.hangUp = try UVRunLoop.current.onHangUp { schedule.load() }
    try UVRunLoop.current.onTermination { schedule.end() }
} catch {
    say("Schedule: \(error)", to: STDERR_FILENO)
    exit(1)
}
UVRunLoop.current.run()  // Returns when the commands that run have ended.
