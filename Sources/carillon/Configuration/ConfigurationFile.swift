import CarillonCore
import Foundation

/// The optional JSON file that holds settings by their names in camelCase.
struct ConfigurationFile: Sendable {
    /// The largest file that is read, in bytes.
    private static let maximumBytes = 65_536

    let path: String
    let values: [Setting: String]
    let mistakes: [String]

    /// Reads a file; whatever is wrong with it becomes a mistake.
    init(path: String) {
        self.path = path
        var values: [Setting: String] = [:]
        var mistakes: [String] = []
        do throws(InvalidSetting) {
            for (name, value) in try Self.members(ofFileAt: path) {
                guard let setting = Setting(rawValue: name) else {
                    let known = Setting.allCases.map(\.rawValue)
                    mistakes.append("\(path): \(ConfigurationError.unknown(name, among: known))")
                    continue
                }
                guard let text = Self.text(value, of: setting) else {
                    let expectation =
                        setting == .egressAllow
                        ? "a string or an array of strings" : "a string, a number, true or false"
                    mistakes.append("\(path): \(name) must be \(expectation)")
                    continue
                }
                values[setting] = text
            }
        } catch {
            mistakes.append("\(Setting.fileVariable) \(error.problem)")
        }
        self.values = values
        self.mistakes = mistakes
    }

    private static func members(
        ofFileAt path: String
    ) throws(InvalidSetting) -> [(key: String, value: JSONValue)] {
        guard let file = FileHandle(forReadingAtPath: path), let data = try? file.read(upToCount: maximumBytes + 1)
        else { throw InvalidSetting("names \(path), which cannot be read: it must be a JSON file") }
        guard data.count <= maximumBytes else {
            throw InvalidSetting("names \(path), which has more than \(maximumBytes) bytes")
        }
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: Array(data))
        } catch {
            throw InvalidSetting("names \(path), which is no JSON: \(error)")
        }
        guard case .object(let object) = value else {
            throw InvalidSetting("names \(path), which must hold a JSON object")
        }
        return object.members
    }

    private static func text(_ value: JSONValue, of setting: Setting) -> String? {
        switch value {
        case .string(let text): return text
        case .number(let number): return number.literal
        case .bool(let isOn): return isOn ? "on" : "off"
        case .array(let elements) where setting == .egressAllow:
            let texts = elements.compactMap(\.text)
            return texts.count == elements.count ? texts.joined(separator: ",") : nil
        default: return nil
        }
    }
}
