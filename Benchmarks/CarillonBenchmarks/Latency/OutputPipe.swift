#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// A pipe into which a service can write its standard output.
struct OutputPipe: Sendable {
    /// The benchmark's end, as NIO takes it.
    let readEnd: CInt
    /// The service's end.
    let writeEnd: FileDescriptor

    /// Makes a pipe; whoever gets its ends has to close them.
    init() throws {
        let ends = try FileDescriptor.pipe()
        readEnd = ends.readEnd.rawValue
        writeEnd = ends.writeEnd
    }
}
