import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonTemplates
import Foundation

struct FileChecks: Sendable {
    private static let gibibyte = 1 << 30

    let settings: Settings

    func findings() -> [Finding] {
        [
            templates, console, Self.description("openapi.yaml", settings.description),
            Self.description("openapi-faces.yaml", settings.facesDescription),
        ] + dataDirectory + [
            freeSpace,
            Self.descriptors(limit: DescriptorLimit.current.hard, databaseConnections: settings.databaseConnections),
        ]
    }

    /// Whether a service started here has slots for its connections; it raises the soft limit itself.
    static func descriptors(limit: Int, databaseConnections: Int) -> Finding {
        do throws(StartError) {
            let budget = try DescriptorBudget(limit: limit, databaseConnections: databaseConnections)
            if let concern = budget.concern { return .warn("open files", concern) }
            return .ok("open files", "\(budget.publicConnections) clients have a place")
        } catch {
            return .fail("open files", error.description)
        }
    }

    private var templates: Finding {
        do throws(TemplateFileError) {
            let catalog = try TemplateCatalog(directory: settings.templates.path)
            let locales = catalog.locales(for: .messageSent).map(\.rawValue)
            return .ok("templates", "\(settings.templates.path): \(locales.joined(separator: ", "))")
        } catch {
            return .fail("templates", "\(error)")
        }
    }

    private var console: Finding {
        guard let console = settings.console else { return .ok("console", "is off") }
        do throws(ConsoleFilesError) {
            _ = try ConsoleFiles(directory: console.path)
            return .ok("console", console.path)
        } catch {
            return .fail("console", error.description)
        }
    }

    private static func description(_ name: String, _ file: Resource) -> Finding {
        file.exists
            ? .ok(name, file.path)
            : .fail(name, "not found: put it beside the program or into the working directory")
    }

    private var dataDirectory: [Finding] {
        guard case .embedded = settings.database else { return [] }
        let subject = "data directory"
        let path = settings.dataDirectory
        let place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: place) else {
            return [.ok(subject, "\(path) does not exist yet: the first start makes it")]
        }
        guard attributes[.type] as? FileAttributeType == .typeDirectory, access(path, R_OK | W_OK | X_OK) == 0 else {
            return [.fail(subject, "\(path) cannot be used by this account: run as its owner or set CARILLON_DATA_DIR")]
        }
        if ((attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0) & 0o022 != 0 {
            return [.fail(subject, "\(path) can be written to by others: chmod go-w \(path)")] + secrets
        }
        return [.ok(subject, path)] + secrets
    }

    private var secrets: [Finding] {
        let files = GeneratedSecrets(dataDirectory: settings.dataDirectory)
        return [files.operatorToken, files.masterKey].filter(\.exists).map { file in
            file.strangersPermissions == 0
                ? .ok("secret", "\(file.path) is private")
                : .fail("secret", "\(file.path) can be used by others: chmod 600 \(file.path), and replace it")
        }
    }

    private var freeSpace: Finding {
        var directory = settings.dataDirectory
        if case .server = settings.database { directory = "/tmp" }
        while access(directory, F_OK) != 0, let slash = directory.lastIndex(of: "/"), slash != directory.startIndex {
            directory = String(directory[..<slash])
        }
        if access(directory, F_OK) != 0 { directory = "." }
        guard let free = FreeSpace.bytes(at: directory) else {
            return .warn("disk", "cannot tell how much space is left at \(directory)")
        }
        let detail = "\(free / (Self.gibibyte / 1024)) MiB are free at \(directory)"
        if free < Self.gibibyte / 10 {
            return .fail("disk", "\(detail): make room, PostgreSQL stops when there is none")
        }
        return free < Self.gibibyte ? .warn("disk", "\(detail): make room soon") : .ok("disk", detail)
    }
}
