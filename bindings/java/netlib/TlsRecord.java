package netlib;

import java.nio.ByteBuffer;

/** The header of a TLS record (RFC 8446 section 5.1). */
final class TlsRecord {
    static final int HEADER_SIZE = 5;

    /** The maximum size of the data in a record. */
    static final int MAX_DATA = 1 << 14;

    /** The maximum size of a record of TLS 1.2, which is larger than that of TLS 1.3 (RFC 5246 section 6.2.3). */
    static final int MAX_SIZE = HEADER_SIZE + MAX_DATA + 2048;

    private TlsRecord() {}

    /**
     * Returns the size of the record at the position of a buffer, or -1 if the buffer has only a part of the record.
     * Returns the number of the remaining bytes if they are no TLS record: netlib explains the failure from these bytes.
     */
    static int size(ByteBuffer buffer) {
        int at = buffer.position();
        int remaining = buffer.remaining();
        boolean isRecord = (remaining < 1 || buffer.get(at) >= 20 && buffer.get(at) <= 23)
                && (remaining < 2 || buffer.get(at + 1) == 3);
        if (!isRecord) {
            return remaining;
        }
        if (remaining < HEADER_SIZE) {
            return -1;
        }
        int size = HEADER_SIZE + ((buffer.get(at + 3) & 0xff) << 8 | buffer.get(at + 4) & 0xff);
        if (size > MAX_SIZE) {
            return remaining;
        }
        return remaining < size ? -1 : size;
    }
}
