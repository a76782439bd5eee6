import ArgumentParser

/// Measures, or plays the push services for a measurement that goes on in another process.
@main
enum Program {
    static func main() async {
        let arguments = CommandLine.arguments.dropFirst()
        if arguments.first == SimulatorCommand.name {
            await SimulatorCommand.main(Array(arguments.dropFirst()))
        } else {
            await CarillonBenchmarks.main()
        }
    }
}
