package netlib;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Links the library with Java, through JNA. */
final class CLibrary {
    /** JNA frees the code of a callback that the garbage collector has collected. */
    private static final List<Callback> KEPT = Collections.synchronizedList(new ArrayList<>());

    private CLibrary() {}

    static void register(Class<?> functions) {
        NativeLibrary library = NativeLibrary.getInstance(Library.path());
        Library.checkVersion(library.getFunction("netlib_version").invokeString(new Object[0], false), Native.VERSION);
        com.sun.jna.Native.register(functions, library);
    }

    /** Returns the address of a C function that calls a method of Java. */
    static long upcall(Callback callback) {
        KEPT.add(callback);
        return Pointer.nativeValue(CallbackReference.getFunctionPointer(callback));
    }
}
