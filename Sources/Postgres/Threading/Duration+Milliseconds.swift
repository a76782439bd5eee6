extension Duration {
    /// Whole milliseconds, rounded up, so that waiting never ends early and a tiny timeout is not "none".
    var roundedUpMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
        let (sum, isTooLongInAll) = whole.addingReportingOverflow(fraction)
        return isTooLong || isTooLongInAll ? (seconds < 0 ? .min : .max) : sum
    }

    var roundedUpSeconds: Int64 {
        let (sum, isTooLong) = components.seconds.addingReportingOverflow(components.attoseconds > 0 ? 1 : 0)
        return isTooLong ? .max : sum
    }
}
