extension Duration {
    /// Whole milliseconds, rounded up, so that waiting never ends early and a tiny timeout is not "none".
    var roundedUpMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max : whole + fraction
    }

    /// Whole seconds, rounded up.
    var roundedUpSeconds: Int64 {
        components.seconds + (components.attoseconds > 0 ? 1 : 0)
    }
}
