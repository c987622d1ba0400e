package netlib;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** Converts arguments and results. */
final class Convert {
    /** A byte that is not UTF-8 becomes this character plus the byte, and is converted back. */
    private static final char UNDECODED = '\uDC00';

    /** The size of a pointer and of a size_t. */
    private static final int WORD = 8;

    private Convert() {}

    static byte[] data(String name, String text) {
        if (text == null) {
            return null;
        }
        return text.chars().anyMatch(Convert::isSurrogate) ? encode(name, text) : text.getBytes(StandardCharsets.UTF_8);
    }

    /** C sees the text only up to its first NUL, so a text with a NUL is refused. */
    static byte[] terminated(String name, String text) {
        if (text == null) {
            return null;
        }
        byte[] bytes = data(name, text);
        byte[] copy = new byte[bytes.length + 1];
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] == 0) {
                throw new IllegalArgumentException(name + " has a NUL at byte " + at);
            }
            copy[at] = bytes[at];
        }
        return copy;
    }

    static CMemory memory(byte[] bytes) {
        CMemory memory = new CMemory(Math.max(1, bytes.length));
        CMemory.putBytes(memory.address(), bytes);
        return memory;
    }

    /** Checks an array in which C replaces one number. */
    static long[] one(String name, long[] number) {
        if (number != null && number.length != 1) {
            throw new IllegalArgumentException(name + " must have one element");
        }
        return number;
    }

    /** Returns the text at an address. The length -1 means that the text ends at its NUL. */
    static String text(long address, long length) {
        if (address == 0) {
            return null;
        }
        byte[] bytes = CMemory.getBytes(address, length < 0 ? CMemory.textLength(address) : length);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException undecodable) {
            return decode(bytes);
        }
    }

    private static boolean isSurrogate(int character) {
        return character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE;
    }

    private static boolean isUndecoded(int character) {
        return character >= UNDECODED + 0x80 && character <= UNDECODED + 0xff;
    }

    /** Decodes text that is not UTF-8 without loss: byte 0x80 or above becomes one character. */
    private static String decode(byte[] bytes) {
        StringBuilder text = new StringBuilder();
        for (byte b : bytes) {
            text.append(b >= 0 ? (char) b : (char) (UNDECODED + (b & 0xff)));
        }
        return text.toString();
    }

    private static byte[] encode(String name, String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int at = 0; at < text.length(); ) {
            int point = text.codePointAt(at);
            at += Character.charCount(point);
            if (isUndecoded(point)) {
                out.write(point - UNDECODED);
            } else if (isSurrogate(point)) {
                throw new IllegalArgumentException(name + " has half of a surrogate pair");
            } else {
                out.writeBytes(Character.toString(point).getBytes(StandardCharsets.UTF_8));
            }
        }
        return out.toByteArray();
    }

    static byte[] bytes(long address, long length) {
        return address == 0 ? null : CMemory.getBytes(address, length);
    }

    static String[] texts(long address, long count) {
        String[] found = new String[Math.toIntExact(count)];
        for (int at = 0; at < found.length; at++) {
            found[at] = text(CMemory.getLong(address + (long) at * WORD), -1);
        }
        return found;
    }

    static int[] ints(long address, long count) {
        return address == 0 ? new int[0] : CMemory.getInts(address, count);
    }

    /** Makes an array of pointers, or of pointers and lengths, followed by the bytes. */
    private static CMemory pack(byte[][] items, int words) {
        long size = (long) items.length * words * WORD + 1;
        for (byte[] item : items) {
            size += item.length;
        }
        CMemory memory = new CMemory(size);
        long slot = memory.address();
        long next = slot + (long) items.length * words * WORD;
        for (byte[] item : items) {
            CMemory.putLong(slot, next);
            if (words == 2) {
                CMemory.putLong(slot + WORD, item.length);
            }
            CMemory.putBytes(next, item);
            next += item.length;
            slot += (long) words * WORD;
        }
        return memory;
    }

    static CMemory array(String name, String[] texts) {
        byte[][] items = new byte[texts.length][];
        for (int at = 0; at < texts.length; at++) {
            items[at] = terminated(name, element(name, at, texts[at]));
        }
        return pack(items, 1);
    }

    static CMemory array(String name, HeaderField[] fields) {
        byte[][] items = new byte[2 * fields.length][];
        for (int at = 0; at < fields.length; at++) {
            HeaderField field = element(name, at, fields[at]);
            items[2 * at] = terminated(name, element(name, at, field.name()));
            items[2 * at + 1] = terminated(name, element(name, at, field.value()));
        }
        return pack(items, 1);
    }

    static CMemory array(String name, byte[][] slices) {
        for (int at = 0; at < slices.length; at++) {
            element(name, at, slices[at]);
        }
        return pack(slices, 2);
    }

    private static <T> T element(String name, int at, T element) {
        return Objects.requireNonNull(element, () -> name + "[" + at + "]");
    }
}
