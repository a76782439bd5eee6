package import CarillonCore
import Foundation

extension TemplateCatalog {
    static var maximumFileBytes: Int { 262_144 }

    /// Loads the built-in templates of all languages from a folder.
    ///
    /// Each `*.yaml` is a language, named by its BCP 47 tag in the usual spelling (`th.yaml`, `zh-Hant.yaml`); files of
    /// other kinds are passed over. English must be complete.
    ///
    /// - Throws: `TemplateFileError` with the mistakes of the first file that has any.
    package init(directory path: String) throws(TemplateFileError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw TemplateFileError(path: path, detail: "cannot be read as a folder of templates")
        }
        var templates: [CompiledTemplate] = []
        for name in names.sorted() where !name.hasPrefix(".") {
            let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            guard let locale = try Self.locale(ofFileNamed: name, path: file) else { continue }
            let yaml = try Self.text(of: file)
            templates += try TemplateFile(yaml: yaml, locale: locale, path: file).templates
        }
        do throws(InvalidInput) {
            try self.init(templates)
        } catch {
            throw TemplateFileError(path: path, mistakes: error.errors.map { .init(detail: $0.detail) })
        }
    }

    private static func locale(ofFileNamed name: String, path: String) throws(TemplateFileError) -> LocaleTag? {
        if name.hasSuffix(".yml") { throw TemplateFileError(path: path, detail: "must be named .yaml, not .yml") }
        guard name.hasSuffix(".yaml") else { return nil }
        let stem = String(name.dropLast(".yaml".count))
        guard let locale = LocaleTag(stem) else {
            throw TemplateFileError(path: path, detail: "must be named after a language, such as th.yaml")
        }
        // Otherwise `th.yaml` and `TH.yaml` could stand side by side, and one of them would count for nothing.
        guard locale.rawValue == stem else {
            throw TemplateFileError(path: path, detail: "must be named \(locale.rawValue).yaml")
        }
        return locale
    }

    private static func text(of path: String) throws(TemplateFileError) -> String {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: maximumFileBytes + 1)
        else { throw TemplateFileError(path: path, detail: "cannot be read") }
        guard data.count <= maximumFileBytes else {
            throw TemplateFileError(path: path, detail: "must have at most \(maximumFileBytes) bytes")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw TemplateFileError(path: path, detail: "must be UTF-8")
        }
        return text
    }
}
