/** netlib: retries, time limits, URLs, headers, connecting and TLS for HTTP clients. */
module netlib {
    exports netlib;
    // Java 22 and newer use java.lang.foreign in place of JNA.
    requires static com.sun.jna;
    opens netlib to com.sun.jna;
}
