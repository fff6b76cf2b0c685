// Numbers and texts as bytes: round trips, and every way the bytes can be wrong.

import CozTestSupport
import Testing

@testable import CozDB

struct ByteReaderTests {
    @Test func `numbers and texts read back`() throws {
        var writer = ByteWriter()
        let varints: [UInt64] = [0, 1, 127, 128, 16383, 16384, 1 << 32, .max >> 1, .max]
        let signed: [Int64] = [0, -1, 1, -64, 64, .min, .max]
        for value in varints { writer.appendVarint(value) }
        for value in signed { writer.appendSigned(value) }
        writer.append(UInt8(7))
        writer.append(UInt32(0x0102_0304))
        writer.append(UInt64(0x0102_0304_0506_0708))
        writer.appendText("é\u{0}")
        writer.appendBlob([0xFF])
        var reader = ByteReader(writer.bytes.span)
        for value in varints { #expect(try reader.readVarint() == value) }
        for value in signed { #expect(try reader.readSigned() == value) }
        #expect(try reader.readUInt8() == 7)
        #expect(try reader.readUInt32() == 0x0102_0304)
        #expect(try reader.readUInt64() == 0x0102_0304_0506_0708)
        #expect(try reader.readText(limit: 3) == "é\u{0}")
        let blob = try [UInt8](copying: reader.readBlob(limit: 1))
        #expect(blob == [0xFF])
        let isAtEnd = reader.isAtEnd
        #expect(isAtEnd)
    }

    func failure(
        _ bytes: [UInt8], _ body: (inout ByteReader) throws(FormatError) -> Void
    ) -> FormatError.Kind? {
        var reader = ByteReader(bytes.span)
        do throws(FormatError) {
            try body(&reader)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test func `bytes that end early are told from bytes that are wrong`() {
        let many = [UInt8](repeating: 0xFF, count: 20)
        #expect(
            failure([]) { reader throws(FormatError) in _ = try reader.readUInt8() } == .truncated)
        #expect(
            failure([1, 2, 3]) { reader throws(FormatError) in _ = try reader.readUInt32() }
                == .truncated)
        #expect(
            failure([1, 2, 3, 4, 5, 6, 7]) { reader throws(FormatError) in
                _ = try reader.readUInt64()
            } == .truncated)
        #expect(
            failure([0x80]) { reader throws(FormatError) in _ = try reader.readVarint() }
                == .truncated)
        #expect(
            failure(many) { reader throws(FormatError) in _ = try reader.readVarint() } == .invalid)
        #expect(
            failure([UInt8](repeating: 0xFF, count: 9) + [2]) { reader throws(FormatError) in
                _ = try reader.readVarint()
            } == .invalid)
        #expect(
            failure([5]) { reader throws(FormatError) in _ = try reader.readCount(limit: 4) }
                == .invalid)
        #expect(
            failure([0]) { reader throws(FormatError) in _ = try reader.readCount(limit: -1) }
                == .invalid)
        #expect(
            failure([3, 1]) { reader throws(FormatError) in _ = try reader.readBlob(limit: 9) }
                == .truncated)
        #expect(
            failure([2, 0xC3, 0x28]) { reader throws(FormatError) in
                _ = try reader.readText(limit: 9)
            } == .invalid)
    }
}
