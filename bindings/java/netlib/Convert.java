package netlib;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Converts arguments and results. */
final class Convert {
    /** A byte that is not UTF-8 becomes this character plus the byte, and is converted back. */
    private static final char UNDECODED = '\uDC00';

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

    /** Copies bytes to memory that lives as long as the result refers to it. */
    static Memory memory(byte[] bytes) {
        Memory memory = new Memory(Math.max(1, bytes.length));
        memory.write(0, bytes, 0, bytes.length);
        return memory;
    }

    /** Checks an array in which C replaces one number. */
    static long[] one(String name, long[] number) {
        if (number != null && number.length != 1) {
            throw new IllegalArgumentException(name + " must have one element");
        }
        return number;
    }

    static byte[] orEmpty(byte[] bytes) {
        return bytes == null ? new byte[0] : bytes;
    }

    static String text(Pointer pointer, long length) {
        if (pointer == null) {
            return null;
        }
        long count = length < 0 ? pointer.indexOf(0, (byte) 0) : length;
        byte[] bytes = pointer.getByteArray(0, Math.toIntExact(count));
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

    static byte[] bytes(Pointer pointer, long length) {
        return pointer == null ? null : pointer.getByteArray(0, Math.toIntExact(length));
    }

    static String[] texts(Pointer pointer, long count) {
        String[] found = new String[Math.toIntExact(count)];
        for (int at = 0; at < found.length; at++) {
            found[at] = text(pointer.getPointer((long) at * Native.POINTER_SIZE), -1);
        }
        return found;
    }

    static int[] ints(Pointer pointer, long count) {
        return pointer == null ? new int[0] : pointer.getIntArray(0, Math.toIntExact(count));
    }

    /** An array of pointers and lengths, followed by the bytes. Kept alive by the caller during the call. */
    private static Memory pack(byte[][] items, int words) {
        long size = (long) items.length * words * Native.POINTER_SIZE + 1;
        for (byte[] item : items) {
            size += item == null ? 0 : item.length;
        }
        Memory memory = new Memory(size);
        long next = (long) items.length * words * Native.POINTER_SIZE;
        for (int at = 0; at < items.length; at++) {
            long slot = (long) at * words * Native.POINTER_SIZE;
            memory.setPointer(slot, items[at] == null ? null : memory.share(next));
            if (words == 2) {
                memory.setLong(slot + Native.POINTER_SIZE, items[at].length);
            }
            if (items[at] != null) {
                memory.write(next, items[at], 0, items[at].length);
                next += items[at].length;
            }
        }
        return memory;
    }

    static Memory array(String name, String[] texts) {
        if (texts == null) {
            return null;
        }
        byte[][] items = new byte[texts.length][];
        for (int at = 0; at < texts.length; at++) {
            items[at] = terminated(name, texts[at]);
        }
        return pack(items, 1);
    }

    static Memory array(String name, HeaderField[] fields) {
        byte[][] items = new byte[2 * fields.length][];
        for (int at = 0; at < fields.length; at++) {
            items[2 * at] = terminated(name, fields[at].name());
            items[2 * at + 1] = terminated(name, fields[at].value());
        }
        return pack(items, 1);
    }

    static Memory array(String name, byte[][] slices) {
        return slices == null ? null : pack(slices, 2);
    }
}
