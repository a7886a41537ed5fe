"""The whole node in one value: composes what the domain folders observe into a `NodeSnapshot`."""
