package netlib;

import java.util.function.LongConsumer;

/** The methods of {@link Url} that every object of Java has. */
abstract class UrlMethods extends Handle {
    UrlMethods(long pointer, Object[] lenders, LongConsumer free) {
        super(pointer, lenders, free);
    }

    /**
     * Compares the texts of two URLs.
     *
     * @param other any object
     * @return true if the other object is a URL with the same text
     */
    @Override
    public final boolean equals(Object other) {
        return this == other || other instanceof Url url && url.toString().equals(toString());
    }

    @Override
    public final int hashCode() {
        return toString().hashCode();
    }
}
