package netlib;

/** A header field. */
public record HeaderField(String name, String value) {}
