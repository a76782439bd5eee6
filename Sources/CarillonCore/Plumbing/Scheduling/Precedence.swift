/// Lets the work of a task go before others' where both wait for one of a few places, such as a connection to the database.
///
/// For what is small and rare: everybody else waits for it.
package enum Precedence {
    /// Whether the task's work goes first.
    @TaskLocal package static var isGranted = false
}
