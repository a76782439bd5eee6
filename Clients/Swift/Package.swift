// swift-tools-version: 6.2

// The libraries by themselves, with their documentation: `swift package generate-documentation --target CarillonClient`.
// Apps depend on the package at the root of this repository, which has them as products.

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let crypto = Target.Dependency.product(
    name: "Crypto",
    package: "swift-crypto",
    condition: .when(platforms: [.linux, .android, .windows])
)
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let httpTypesFoundation = Target.Dependency.product(name: "HTTPTypesFoundation", package: "swift-http-types")

let package = Package(
    name: "carillon-client",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [
        .library(name: "CarillonClient", targets: ["CarillonClient"]),
        .library(name: "CarillonWebhooks", targets: ["CarillonWebhooks"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
    ],
    targets: [
        .target(name: "CarillonClient", dependencies: [httpTypes, httpTypesFoundation], swiftSettings: settings),
        .target(name: "CarillonWebhooks", dependencies: [crypto, httpTypes], swiftSettings: settings),
        .executableTarget(
            name: "notification-switches",
            dependencies: ["CarillonClient"],
            path: "Examples/NotificationSwitches",
            swiftSettings: settings
        ),
        .testTarget(name: "CarillonClientTests", dependencies: ["CarillonClient", httpTypes], swiftSettings: settings),
        .testTarget(
            name: "CarillonWebhooksTests",
            dependencies: ["CarillonWebhooks", httpTypes],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
