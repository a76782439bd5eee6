package import CarillonCore
import Yams

/// One language's file of built-in templates.
///
/// ```yaml
/// member.joined:
///   title: "%s"
///   body:
///     one: "%1s has joined %2s"
///     many: "%1s and %3s others have joined %2s"
/// ```
///
/// Title and body are one text or texts by variant. Events and variants may be left out; anything else that is not expected is an error.
package struct TemplateFile: Sendable {
    /// The language of the file.
    package let locale: LocaleTag
    /// Its templates, checked, in the order of the file.
    package let templates: [CompiledTemplate]

    /// Reads and checks a file's text.
    ///
    /// - Throws: All mistakes of the file with their lines.
    package init(yaml: String, locale: LocaleTag, path: String) throws(TemplateFileError) {
        var reader = TemplateFileReader(locale: locale)
        let templates = reader.templates(in: try Self.root(of: yaml, path: path))
        guard reader.mistakes.isEmpty else { throw TemplateFileError(path: path, mistakes: reader.mistakes) }
        self.locale = locale
        self.templates = templates
    }

    private static func root(of yaml: String, path: String) throws(TemplateFileError) -> Node {
        do {
            if let root = try compose(yaml: yaml) { return root }
        } catch let error as YamlError {
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                throw TemplateFileError(path: path, line: mark.line, detail: problem)
            case .duplicatedKeysInMapping(let keys, let context):
                let names = keys.map { "'\($0)'" }.joined(separator: ", ")
                throw TemplateFileError(path: path, line: context.mark.line, detail: "\(names) stands there twice")
            default:
                throw TemplateFileError(path: path, detail: "cannot be read as YAML")
            }
        } catch {
            throw TemplateFileError(path: path, detail: "cannot be read as YAML")
        }
        throw TemplateFileError(path: path, detail: "is empty")
    }
}

/// Walks through the nodes of one file and collects mistakes.
private struct TemplateFileReader {
    let locale: LocaleTag
    var mistakes: [TemplateFileError.Mistake] = []

    mutating func templates(in root: Node) -> [CompiledTemplate] {
        guard let events = root.mapping else {
            report("must map event types to templates", at: root)
            return []
        }
        var templates: [CompiledTemplate] = []
        for (name, node) in events {
            guard let eventType = EventType.withTemplates.first(where: { $0.rawValue == name.scalar?.string }) else {
                let known = EventType.withTemplates.map(\.rawValue).joined(separator: ", ")
                report("unknown event type; known are \(known)", at: name)
                continue
            }
            guard let source = source(node, of: eventType) else { continue }
            do throws(InvalidInput) {
                templates.append(try CompiledTemplate(source, for: eventType, locale: locale))
            } catch {
                for error in error.errors {
                    let place = error.pointer.split(separator: "/").map(String.init)
                    let text = place.reduce(node) { node, step in node.mapping?[step] ?? node }
                    report("\(eventType.rawValue) \(place.joined(separator: ".")): \(error.detail)", at: text)
                }
            }
        }
        return templates
    }

    private mutating func source(_ node: Node, of eventType: EventType) -> TemplateSource? {
        guard let texts = members(of: node, known: ["title", "body"], in: eventType.rawValue) else { return nil }
        guard let title = texts["title"], let body = texts["body"] else {
            report("\(eventType.rawValue) needs a title and a body", at: node)
            return nil
        }
        let name = eventType.rawValue
        guard let title = wording(title, eventType.titleVariants, in: "\(name) title"),
            let body = wording(body, eventType.kind.variants, in: "\(name) body")
        else { return nil }
        return TemplateSource(title: title, body: body)
    }

    private mutating func wording(_ node: Node, _ variants: [TemplateVariant], in place: String) -> TemplateWording? {
        guard node.mapping != nil else { return text(node, in: place).map { .one($0) } }
        guard let nodes = members(of: node, known: variants.map(\.rawValue), in: place) else { return nil }
        var texts: [TemplateVariant: String] = [:]
        for variant in variants {
            guard let node = nodes[variant.rawValue] else { continue }
            guard let text = text(node, in: "\(place).\(variant.rawValue)") else { return nil }
            texts[variant] = text
        }
        return .variants(texts)
    }

    private mutating func members(of node: Node, known: [String], in place: String) -> [String: Node]? {
        guard let mapping = node.mapping else {
            report("\(place) must have \(known.joined(separator: ", "))", at: node)
            return nil
        }
        var members: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string, known.contains(name) else {
                let names = known.isEmpty ? "must be one text" : "may only have \(known.joined(separator: ", "))"
                report("\(place) \(names)", at: key)
                return nil
            }
            members[name] = value
        }
        return members
    }

    private mutating func text(_ node: Node, in place: String) -> String? {
        guard let scalar = node.scalar else {
            report("\(place) must be a text", at: node)
            return nil
        }
        return scalar.string
    }

    private mutating func report(_ detail: String, at node: Node) {
        mistakes.append(.init(line: node.mark?.line, detail: detail))
    }
}
