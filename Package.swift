// swift-tools-version: 6.2

import PackageDescription

// For whom this is a dependency, a compiler that warns of more than ours must not be an error.
let isDependency = Context.packageDirectory.contains("/checkouts/")
let settings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + (isDependency ? [] : [.treatAllWarnings(as: .error)])

// A product's module is spelled once here, so that the graph below reads as the picture in docs/architecture.md.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
// Apple's platforms bring CryptoKit.
let cryptoWhereNotApple = Target.Dependency.product(
    name: "Crypto",
    package: "swift-crypto",
    condition: .when(platforms: [.linux, .android, .windows])
)
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let httpTypesFoundation = Target.Dependency.product(name: "HTTPTypesFoundation", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let metricsCore = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let subprocess = Target.Dependency.product(name: "Subprocess", package: "swift-subprocess")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
    name: "carillon",
    // iOS is for the two libraries below; the rest is for servers.
    platforms: [.macOS(.v15), .iOS(.v16)],
    products: [
        .executable(name: "carillon", targets: ["carillon"]),
        .library(name: "CarillonClient", targets: ["CarillonClient"]),
        .library(name: "CarillonWebhooks", targets: ["CarillonWebhooks"]),
        .library(name: "Postgres", targets: ["Postgres"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.0"),
    ],
    targets: [
        .executableTarget(
            name: "carillon",
            dependencies: [
                "CarillonCore", "CarillonEdge", "CarillonFaces", "CarillonHTTP", "CarillonProviders",
                "CarillonSimulator",
                "CarillonStore",
                "CarillonTemplates", "CarillonWebhooks", "CMalloc", "EmbeddedPostgres", "Postgres", "PushHTTP",
                argumentParser, httpTypes, hummingbird, logging, metrics,
                metricsCore,
                nioCore, nioHTTP1, nioPosix, nioSSL, serviceLifecycle, unixSignals, yams,
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "carillon-benchmarks",
            dependencies: [
                "CarillonCore", "CarillonProviders", "CarillonSimulator", "CarillonTemplates", "EmbeddedPostgres",
                "Postgres",
                argumentParser, asyncHTTPClient, crypto, cryptoExtras, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
                subprocess, systemPackage, unixSignals,
            ],
            path: "Benchmarks/CarillonBenchmarks",
            swiftSettings: settings
        ),
        .target(
            name: "CarillonHTTP",
            dependencies: [
                "CarillonCore", "CarillonDialects", "CarillonEdge", "CarillonWebhooks",
                crypto, httpTypes, hummingbird, logging, metrics, nioCore, nioHTTP1,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CarillonEdge",
            dependencies: [
                "CarillonCore", "CarillonWebhooks",
                crypto, cryptoExtras, deque, httpTypes, hummingbird, hummingbirdCore, logging, metrics, nioCore,
                nioHTTP1, serviceLifecycle,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CarillonFaces",
            dependencies: [
                "CarillonCore", "CarillonEdge", crypto, httpTypes, hummingbird, logging, metrics, nioCore,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CarillonDialects",
            dependencies: ["CarillonCore", "CZlib", crypto],
            swiftSettings: settings
        ),
        .target(
            name: "CarillonProviders",
            dependencies: [
                "CarillonCore", "PushHTTP",
                crypto, cryptoExtras, logging, nioCore, nioHTTP1, nioPosix, nioSSL, swiftASN1, x509,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "PushHTTP",
            dependencies: [
                "CarillonCore", logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL, nioTLS,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CarillonSimulator",
            dependencies: [
                crypto, cryptoExtras, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL, swiftASN1, x509,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "CarillonStore",
            dependencies: ["CarillonCore", "Postgres", crypto, logging, serviceLifecycle],
            swiftSettings: settings
        ),
        .target(name: "CarillonTemplates", dependencies: ["CarillonCore", yams], swiftSettings: settings),
        .target(
            name: "CarillonCore",
            dependencies: ["CarillonWebhooks", crypto, deque, logging, metrics, metricsCore, serviceLifecycle],
            swiftSettings: settings
        ),
        .target(
            name: "EmbeddedPostgres",
            dependencies: ["Postgres", logging, serviceLifecycle, subprocess, systemPackage],
            swiftSettings: settings
        ),
        .target(name: "Postgres", dependencies: ["CLibPQ", logging, serviceLifecycle], swiftSettings: settings),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // For apps and back ends; also a package of their own, Clients/Swift, with the documentation.
        .target(
            name: "CarillonClient",
            dependencies: [httpTypes, httpTypesFoundation],
            path: "Clients/Swift/Sources/CarillonClient",
            swiftSettings: settings
        ),
        .target(
            name: "CarillonWebhooks",
            dependencies: [cryptoWhereNotApple, httpTypes],
            path: "Clients/Swift/Sources/CarillonWebhooks",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "notification-switches",
            dependencies: ["CarillonClient"],
            path: "Clients/Swift/Examples/NotificationSwitches",
            swiftSettings: settings
        ),
        .target(
            name: "CarillonTesting",
            dependencies: [
                "CarillonCore", "CarillonStore", "EmbeddedPostgres", "Postgres", httpTypes, hummingbirdTesting, logging,
                metricsCore, nioCore, serviceLifecycle,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonBenchmarksTests",
            dependencies: ["carillon-benchmarks", "CarillonCore", "CarillonWebhooks", logging],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonClientTests",
            dependencies: ["CarillonClient", httpTypes],
            path: "Clients/Swift/Tests/CarillonClientTests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonWebhooksTests",
            dependencies: ["CarillonWebhooks", httpTypes],
            path: "Clients/Swift/Tests/CarillonWebhooksTests",
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonCoreTests",
            dependencies: [
                "CarillonCore", "CarillonTesting", "CarillonWebhooks", "Postgres", logging, metrics, serviceLifecycle,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonDialectsTests",
            dependencies: [
                "CarillonCore", "CarillonDialects", "CarillonTemplates", "CarillonTesting", "CarillonWebhooks", crypto,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonFacesTests",
            dependencies: [
                "CarillonCore", "CarillonEdge", "CarillonFaces", "CarillonTesting",
                crypto, cryptoExtras, httpTypes, hummingbird, hummingbirdTesting, metricsCore, nioCore,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonHTTPTests",
            dependencies: [
                "CarillonCore", "CarillonDialects", "CarillonEdge", "CarillonFaces", "CarillonHTTP",
                "CarillonProviders", "CarillonTesting", "CarillonWebhooks", "Postgres",
                crypto, cryptoExtras, httpTypes, hummingbird, hummingbirdTesting, logging, metricsCore, nioCore,
                nioEmbedded, nioHTTP1, nioPosix,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonProgramTests",
            dependencies: [
                "carillon", "CarillonCore", "CarillonHTTP", "CarillonProviders", "CarillonStore", "CarillonTesting",
                argumentParser, crypto, cryptoExtras, logging, metrics, metricsCore, nioSSL,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonProvidersTests",
            dependencies: [
                "CarillonCore", "CarillonProviders", "CarillonSimulator", "CarillonTesting", "CarillonWebhooks",
                "PushHTTP", "PushHTTPTests",
                crypto, cryptoExtras, logging, metrics, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
                serviceLifecycle, swiftASN1, x509,
            ],
            swiftSettings: settings
        ),
        // Its servers serve the providers' tests, too.
        .testTarget(
            name: "PushHTTPTests",
            dependencies: [
                "CarillonCore", "CarillonTesting", "PushHTTP",
                crypto, logging, nioCore, nioEmbedded, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonSimulatorTests",
            dependencies: [
                "CarillonSimulator", "CarillonTesting", asyncHTTPClient, crypto, cryptoExtras, logging, nioCore,
                nioHTTP1, nioSSL, x509,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonStoreTests",
            dependencies: [
                "CarillonCore", "CarillonStore", "CarillonTesting", "EmbeddedPostgres", "Postgres", logging,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CarillonTemplatesTests",
            dependencies: ["CarillonCore", "CarillonTemplates"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "EmbeddedPostgresTests",
            dependencies: ["CarillonTesting", "EmbeddedPostgres", "Postgres", logging, serviceLifecycle],
            swiftSettings: settings
        ),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["CarillonTesting", "EmbeddedPostgres", "Postgres", logging, serviceLifecycle],
            swiftSettings: settings
        ),
        // Runs the built programs, which is why it depends on them.
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "carillon", "CarillonClient", "CarillonCore", "CarillonSimulator", "CarillonWebhooks",
                "EmbeddedPostgres", "Postgres",
                "notification-switches",
                asyncHTTPClient, crypto, hummingbird, httpTypes, logging, nioCore, nioHTTP1, nioPosix,
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
