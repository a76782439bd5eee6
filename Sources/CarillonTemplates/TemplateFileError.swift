/// What is wrong with the folder or a file of built-in templates: for the person who edits it.
package struct TemplateFileError: Error, Equatable, CustomStringConvertible {
    package struct Mistake: Sendable, Equatable {
        /// The line of the file, from 1; `nil` where the mistake is the whole file's.
        package var line: Int?
        /// What is wrong; names the event and the text, and the column within the text.
        package var detail: String
    }

    /// The path of the file or folder.
    package var path: String
    /// The mistakes; never empty.
    package var mistakes: [Mistake]

    /// A line for each mistake, in the form that editors can follow: `Templates/th.yaml:12: …`.
    package var description: String {
        mistakes.map { "\(path)\($0.line.map { ":\($0)" } ?? ""): \($0.detail)" }.joined(separator: "\n")
    }
}

extension TemplateFileError {
    init(path: String, line: Int? = nil, detail: String) {
        self.init(path: path, mistakes: [Mistake(line: line, detail: detail)])
    }
}
