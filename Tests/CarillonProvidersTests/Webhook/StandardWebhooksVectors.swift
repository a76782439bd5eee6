/// Messages that the reference library signed. Made by Tests/Interop/standard_webhooks.py; not to be edited.
struct StandardWebhooksVector: Sendable {
    let secret: String
    let id: String
    let timestamp: Int64
    let body: String
    let signature: String

    private static let messages: [(id: String, timestamp: Int64, body: String)] = [
        ("msg_1", 1_700_000_000, #"{"type":"notification.created"}"#),
        ("0193e5d0-7b5a-5c1e-9d3f-2f6a1b7c8d9e", 1_763_632_800, #"{"title":"Bob","body":"สวัสดี 👋🏽 – \"hi\"\n"}"#),
        ("empty", 1, #""#),
        ("id.with.dots", 253_370_764_800, #"[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]"#),
    ]

    /// By secret, of each message.
    private static let signatures: KeyValuePairs = [
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX": [
            "v1,2P3UvRX+sCLMH507xUQqlXIBUUgV/toiLfWUfM38mQM=",
            "v1,HHdjCSq0xGLqhkkGmsCWEf3zFtEedobWDOmxmnx8Rzw=",
            "v1,ftn9xs4yX9CT0h6gABI5kpfLuDslLS4sovIj+Bdh9/s=",
            "v1,LNU3KOU6LlreDQ1t01MwAODL/bHiAOASwp9y763X9Cg=",
        ],
        "whsec_ZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1+f4CBgoM=": [
            "v1,/0Q+MrogWUMVDWXht8QFZXisMe7aR01KlcsB3bnoMgE=",
            "v1,mabUb+FfoS6PmBI6eoOW9O6xSjjDfrucfHQgULqY9Ks=",
            "v1,9r5GRfJz9bcNZLSLdri/DAHawdOoEOsFAbfhU1JQHUM=",
            "v1,c39hBMtXx0kmvKLcrXDYC3Bj+dFRn4BKaM8hr1ANtjM=",
        ],
        "whsec_//79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eDf3t3c29rZ2NfW1dTT0tHQz87NzMvKycjHxsXEw8LBwA==": [
            "v1,RC/Mrvt41YW0C0f3qTs4g8g0fxxSpQ86dumvbhX5CGc=",
            "v1,4hMsqclmFdkRVrB8bJb3fPCFWiwULDLkAevod4AzD08=",
            "v1,6+9h7DYQ/m/+fQRyhg8GVts7gajLLRHgx8r3CB7GoCw=",
            "v1,tEs7NC4RYqo0L/dzxn3iPLkgmVIE26Mfgm3Mwwtt8QY=",
        ],
    ]

    static let all = signatures.flatMap { secret, signatures in
        zip(messages, signatures).map { message, signature in
            StandardWebhooksVector(
                secret: secret,
                id: message.id,
                timestamp: message.timestamp,
                body: message.body,
                signature: signature
            )
        }
    }
}
