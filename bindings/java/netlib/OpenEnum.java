package netlib;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * A value of an enum of the C library. The class is no Java enum, because a newer library may return a value that the
 * class does not know: such a value keeps its number. Values that the class knows may be compared with {@code ==}.
 */
public abstract class OpenEnum {
    private final String name;
    private final long number;

    OpenEnum(String name, long number) {
        this.name = name;
        this.number = number;
    }

    /**
     * Returns the name of the constant.
     *
     * @return the name; the number as text for a value that the class does not know
     */
    public final String name() {
        return name;
    }

    /**
     * Returns the number that the value has in C.
     *
     * @return the number
     */
    public final long number() {
        return number;
    }

    @Override
    public final String toString() {
        return name;
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof OpenEnum value && value.getClass() == getClass() && value.number == number;
    }

    @Override
    public final int hashCode() {
        return Long.hashCode(number);
    }

    /** The constants of one class. */
    static final class Values<T extends OpenEnum> {
        private final BiFunction<String, Long, T> make;
        private final Map<Long, T> known = new LinkedHashMap<>();

        Values(BiFunction<String, Long, T> make) {
            this.make = make;
        }

        /** Adds a constant. A number that is known already has one more name for the same value. */
        T add(String name, long number) {
            return known.computeIfAbsent(number, added -> make.apply(name, added));
        }

        T of(long number) {
            T found = known.get(number);
            return found != null ? found : make.apply(Long.toString(number), number);
        }

        List<T> all() {
            return List.copyOf(known.values());
        }

        /** Returns the values that a sum of bits contains. */
        Set<T> set(long bits) {
            Set<T> found = new LinkedHashSet<>();
            long rest = bits;
            for (T value : known.values()) {
                long number = value.number();
                if (number != 0 && (bits & number) == number) {
                    found.add(value);
                    rest &= ~number;
                }
            }
            if (rest != 0) {
                found.add(of(rest));
            }
            return found;
        }
    }

    /** Returns the sum of the bits of values. */
    static long bits(String name, Collection<? extends OpenEnum> values) {
        long bits = 0;
        for (OpenEnum value : values) {
            bits |= Objects.requireNonNull(value, name).number;
        }
        return bits;
    }
}
