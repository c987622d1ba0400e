package java.lang.foreign;

import java.lang.invoke.MethodHandle;

public interface Linker {
    interface Option {}

    static Linker nativeLinker() {
        return null;
    }

    MethodHandle downcallHandle(FunctionDescriptor function, Option... options);

    MemorySegment upcallStub(MethodHandle target, FunctionDescriptor function, Arena arena, Option... options);
}
