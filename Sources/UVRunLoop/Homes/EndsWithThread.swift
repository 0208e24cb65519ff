/// A loop, which is declared higher up, as the end of its thread sees it.
protocol EndsWithThread {
    /// Ends the loop: nothing is accepted any more.
    func tearDown()

    /// Passes the jobs that are left to another thread.
    func passOnJobs()
}
