package netlib;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Replaces the names of C in messages by the names of Java. */
final class Names {
    private static final Pattern C_NAME = Pattern.compile("(?:enum )?\\b((?:netlib|NETLIB)_\\w+)");

    private Names() {}

    /** The names, which are read when the first message contains a name of C. */
    private static final class Table {
        static final Properties NAMES = read();

        private static Properties read() {
            Properties names = new Properties();
            try (InputStream file = Names.class.getResourceAsStream("names.properties")) {
                names.load(file);
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
            return names;
        }
    }

    /** Returns the text with the names of Java. Unknown names stay. null stays null. */
    static String inJava(String text) {
        if (text == null || !text.contains("netlib_") && !text.contains("NETLIB_")) {
            return text;
        }
        return C_NAME.matcher(text).replaceAll(
                found -> Matcher.quoteReplacement(Table.NAMES.getProperty(found.group(1), found.group())));
    }
}
