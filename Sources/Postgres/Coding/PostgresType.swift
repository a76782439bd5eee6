/// The object id by which PostgreSQL names a type in its protocol.
public struct PostgresType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The object id, as in `pg_type.oid`.
    public let rawValue: UInt32

    /// Wraps an object id.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    private init(_ rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// `boolean`
    public static let bool = PostgresType(16)
    /// `bytea`
    public static let bytea = PostgresType(17)
    /// `name`, the type of identifiers in system tables
    public static let name = PostgresType(19)
    /// `bigint`
    public static let int8 = PostgresType(20)
    /// `smallint`
    public static let int2 = PostgresType(21)
    /// `integer`
    public static let int4 = PostgresType(23)
    /// `text`
    public static let text = PostgresType(25)
    /// `json`
    public static let json = PostgresType(114)
    /// `real`
    public static let float4 = PostgresType(700)
    /// `double precision`
    public static let float8 = PostgresType(701)
    /// `character(n)`
    public static let bpchar = PostgresType(1042)
    /// `character varying`
    public static let varchar = PostgresType(1043)
    /// `timestamp with time zone`
    public static let timestamptz = PostgresType(1184)
    /// `uuid`
    public static let uuid = PostgresType(2950)
    /// `jsonb`
    public static let jsonb = PostgresType(3802)

    /// The type of an array of this type; nil for types without one that this module knows.
    public var arrayType: PostgresType? {
        Self.arrayTypes[self]
    }

    /// The type's name, or its number for one that this module does not know.
    public var description: String {
        Self.names[self] ?? "type \(rawValue)"
    }

    /// Whether the type was made in this database (enums, domains over arrays, extensions) rather than built in.
    var isUserDefined: Bool { rawValue >= 16384 }

    var isKnownArray: Bool { Self.knownArrays.contains(self) }

    private static let arrayTypes: [PostgresType: PostgresType] = [
        .bool: PostgresType(1000), .bytea: PostgresType(1001), .name: PostgresType(1003), .int2: PostgresType(1005),
        .int4: PostgresType(1007), .text: PostgresType(1009), .bpchar: PostgresType(1014),
        .varchar: PostgresType(1015), .int8: PostgresType(1016), .float4: PostgresType(1021),
        .float8: PostgresType(1022), .timestamptz: PostgresType(1185), .json: PostgresType(199),
        .uuid: PostgresType(2951), .jsonb: PostgresType(3807),
    ]

    private static let knownArrays = Set(arrayTypes.values)

    private static let names: [PostgresType: String] = {
        let scalars: [PostgresType: String] = [
            .bool: "boolean", .bytea: "bytea", .name: "name", .int8: "bigint", .int2: "smallint", .int4: "integer",
            .text: "text", .json: "json", .float4: "real", .float8: "double precision", .bpchar: "character",
            .varchar: "character varying", .timestamptz: "timestamp with time zone", .uuid: "uuid", .jsonb: "jsonb",
        ]
        let arrays = arrayTypes.map { element, array in (array, "\(scalars[element] ?? "")[]") }
        return scalars.merging(arrays) { scalar, _ in scalar }
    }()
}
