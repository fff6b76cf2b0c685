// Directories that do something while a reader looks.

package import CozDB

/// A directory for readers. It passes what they call on to another one, and ignores changes. A test
/// only says what happens when a file is opened.
package protocol ReadingDirectory: Directory {
    var directory: any Directory { get }
}

extension ReadingDirectory {
    package var path: String { directory.path }

    package func list() throws(FileError) -> [String] { try directory.list() }
    package func create(_ name: String) throws(FileError) -> any File { try directory.create(name) }
    package func openDirectory(_ name: String, create: Bool) -> any Directory { self }
    package func rename(_ source: String, to target: String) {}
    package func remove(_ name: String) {}
    package func removeDirectory(_ name: String) {}
    package func sync() {}
    package func lock(_ name: String) -> (any File)? { nil }
}
