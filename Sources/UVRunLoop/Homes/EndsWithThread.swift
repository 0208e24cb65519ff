/// What the end of a thread asks of the thread's loop, which is declared higher up.
protocol EndsWithThread {
    /// Ends the loop: nothing is accepted any more.
    func tearDown()

    /// Passes the jobs that are left to another thread.
    func passOnJobs()
}
