// The public face: open, write, query, snapshot, flush, compact, close.

/// How a database is opened.
public enum DatabaseAccess: Sendable {
    /// The one writer; creates the directory when asked to. Readers are never blocked.
    case readWrite
    /// Any number of readers, in this process or others; nothing is created, written or locked.
    case readOnly
}

public final class Database: Sendable {
    public static func open(
        _ path: String, access: DatabaseAccess = .readWrite,
        options: DatabaseOptions = DatabaseOptions()
    ) throws(DatabaseError) -> Database {
        Database()
    }

    public func write(_ batch: borrowing WriteBatch) throws(DatabaseError) -> WriteReport {
        WriteReport()
    }
    public func flush() throws(DatabaseError) {}
    public func compact() throws(DatabaseError) {}
    public func close() throws(DatabaseError) {}
    func snapshot() throws(DatabaseError) -> Snapshot { Snapshot(experiments: []) }
}
