import Testing

/// Tests that start services; one after the other, so that each has the machine for itself.
@Suite(.serialized) enum Services {}

/// Tests that wait for leases to run out, beside the others: they mostly wait.
@Suite(.serialized) enum Crashes {}
