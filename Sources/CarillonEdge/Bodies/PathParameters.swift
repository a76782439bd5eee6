package import CarillonCore
import Hummingbird

extension CarillonRequestContext {
    /// A path segment, percent-decoded once: Hummingbird hands segments on as they were sent. Some systems' clients write `+` for a space.
    /// - Throws: 400 for what is no percent-encoded UTF-8.
    package func segment(_ name: String, plusIsSpace: Bool = false) throws(Problem) -> String {
        guard let raw = coreContext.parameters[name[...]] else { throw .notFound() }
        guard let text = PercentEncoding.decode(raw, plusIsSpace: plusIsSpace) else {
            throw .invalidID(name, "must be percent-encoded UTF-8")
        }
        return text
    }

    /// A path segment that is an id of a caller's choice.
    package func identifier<Subject>(
        _ name: String,
        as subject: Subject.Type = Subject.self
    ) throws(Problem) -> Identifier<Subject> {
        guard let identifier = Identifier<Subject>(try segment(name)) else {
            throw .invalidID(name, "must be 1 to \(Identifier<Subject>.maximumBytes) bytes without control characters")
        }
        return identifier
    }
}
