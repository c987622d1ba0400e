package netlib;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Loads the library: the one in the JAR file, or else the installed one. */
public final class Library {
    private static final String NAME = "libnetlib.so." + Native.VERSION;

    private Library() {}

    /**
     * Throws an exception unless the version is MAJOR.MINOR of the wanted one.
     *
     * @param found the version of the library
     * @param wanted MAJOR.MINOR
     * @throws LinkageError if the versions differ
     */
    public static void checkVersion(String found, String wanted) {
        if (!found.startsWith(wanted + ".")) {
            throw new LinkageError(
                    "the classes need version " + wanted + " of libnetlib, but the version " + found + " is loaded");
        }
    }

    static String path() {
        try (InputStream bundled = Library.class.getResourceAsStream(NAME)) {
            if (bundled == null) {
                return NAME;
            }
            Path directory = Files.createTempDirectory("netlib"); // readable by its owner only
            Path file = directory.resolve(NAME);
            Files.copy(bundled, file, StandardCopyOption.REPLACE_EXISTING);
            directory.toFile().deleteOnExit(); // the last registered is the first deleted
            file.toFile().deleteOnExit();
            return file.toString();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
