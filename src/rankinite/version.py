"""Version: the number of this release, written here alone; the package, its metadata and its files take it from here."""

VERSION = "0.2.0"
