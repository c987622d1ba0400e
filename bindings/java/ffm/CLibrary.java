package netlib;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;

/** Links the library with Java, through java.lang.foreign. */
final class CLibrary {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final SymbolLookup FUNCTIONS = SymbolLookup.libraryLookup(Library.path(), Arena.global());

    static {
        Library.checkVersion(version(), Native.VERSION);
    }

    private CLibrary() {}

    private static String version() {
        try {
            MethodHandle version = handle(FunctionDescriptor.of(ValueLayout.JAVA_LONG));
            return Convert.text((long) version.invokeExact(function("netlib_version")), -1);
        } catch (Throwable failed) {
            throw unexpected(failed);
        }
    }

    static MemorySegment function(String name) {
        return FUNCTIONS.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name));
    }

    /** Returns a method whose first parameter is the function to call. */
    static MethodHandle handle(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /** Returns the address of a C function that calls a method of Trampolines. */
    static long upcall(String name, FunctionDescriptor descriptor) {
        try {
            MethodHandle method =
                    MethodHandles.lookup().findStatic(Trampolines.class, name, descriptor.toMethodType());
            return LINKER.upcallStub(method, descriptor, Arena.global()).address();
        } catch (ReflectiveOperationException failed) {
            throw new LinkageError(name, failed);
        }
    }

    /** A C function throws nothing, so `failed` is an error of the JVM. */
    static Error unexpected(Throwable failed) {
        return failed instanceof Error error ? error : new LinkageError("a call of netlib failed", failed);
    }
}
