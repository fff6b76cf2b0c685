// Copies input that cannot be read twice to a temporary file.

package import CozDB
internal import CozPlatform

extension InputFile {
    /// Copies the remaining input, decoded, to a temporary file in `TMPDIR` or `/tmp`. The file has
    /// no name and is deleted with the returned object.
    ///
    /// If gzip data is truncated or corrupt, the copy has what stands before the break, and reading
    /// it ends with the error.
    ///
    /// - Throws: as `read`, except for `damaged`; `io` if the copy cannot be written.
    package func spooled() throws(DatabaseError) -> InputFile {
        // Sound: the environment's string ends with a zero byte.
        let folder = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        let random = String(repeating: "X", count: 6)
        var template = Array("\(folder)/cozdb-import-\(random)".utf8CString)
        let copy = unsafe mkstemp(&template)
        guard copy >= 0 else { throw spoolError(folder, errno) }
        _ = unsafe unlink(template)
        _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
        var size = 0
        var endError: DatabaseError?
        do throws(DatabaseError) {
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while endError == nil {
                var count = 0
                do throws(DatabaseError) {
                    count = try read(into: &buffer)
                } catch {
                    guard error.kind == .damaged else { throw error }
                    endError = error
                }
                if count == 0 { break }
                let code = InputFile.write(buffer[..<count], to: copy)
                if code != 0 { throw spoolError(folder, code) }
                size += count
            }
        } catch {
            _ = Glibc.close(copy)
            throw error
        }
        lseek(copy, 0, SEEK_SET)
        return InputFile(name: name, descriptor: copy, sizeBytes: size, endError: endError)
    }

    /// Reads up to the size of `buffer`; returns the number of bytes, 0 at the end.
    private func read(into buffer: inout [UInt8]) throws(DatabaseError) -> Int {
        var result = Result<Int, DatabaseError>.success(0)
        unsafe buffer.withUnsafeMutableBytes { target in
            do throws(DatabaseError) {
                result = .success(unsafe try read(into: target))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }

    /// Writes all bytes; returns 0 or errno.
    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            // Sound: the buffer outlives the call.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count >= 0 {
                rest.removeFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }

    private func spoolError(_ folder: String, _ code: Int32) -> DatabaseError {
        let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return DatabaseError(
            .io,
            "this input must be read twice, but its temporary copy in \(folder) cannot be "
                + "written: \(text); set TMPDIR to a directory with enough space, or import from "
                + "a file",
            file: name)
    }
}
