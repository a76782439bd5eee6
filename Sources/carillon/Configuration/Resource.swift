import Foundation

/// A file or folder that comes with the program: named by the operator, beside the program or above it, or in the
/// working directory.
struct Resource: Sendable {
    /// Where it is; only its name when it is nowhere.
    let path: String
    private let isGiven: Bool

    /// Looks for a file or folder.
    init(_ name: String, given: String? = nil, program: String? = Bundle.main.executablePath) {
        isGiven = given != nil
        if let given {
            path = given
            return
        }
        var above: [String] = []
        // A program that was built in a checkout finds what is at the checkout's top.
        var directory = program.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent() }
        while let current = directory, current.path != "/" {
            above.append(current.appendingPathComponent(name).path)
            directory = current.deletingLastPathComponent()
        }
        let candidates = above.prefix(1) + [name] + above.dropFirst()
        path = candidates.first(where: FileManager.default.fileExists(atPath:)) ?? name
    }

    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    /// Notes it as a mistake when it is no file that can be read: one that comes with the program, and that nobody names.
    func checkFile(into reader: inout SettingsReader) {
        guard access(path, R_OK) != 0 else { return }
        reader.note("\(path) must be a file that can be read, beside the program or in the working directory")
    }

    /// Notes it as a mistake when it is not there.
    func check(as setting: Setting, into reader: inout SettingsReader) {
        guard !exists else { return }
        let problem =
            isGiven
            ? InvalidSetting.value(path, mustBe: "a folder that can be read")
            : InvalidSetting("must be set: there is no folder \(path) beside the program or in the working directory")
        reader.reject(setting, problem)
    }
}
