package java.lang.foreign;

import java.lang.invoke.MethodType;

public interface FunctionDescriptor {
    static FunctionDescriptor of(MemoryLayout returned, MemoryLayout... arguments) {
        return null;
    }

    static FunctionDescriptor ofVoid(MemoryLayout... arguments) {
        return null;
    }

    MethodType toMethodType();
}
