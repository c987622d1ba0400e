/* Makes the atomic operations of a precompiled crate visible to ThreadSanitizer. Usage: instrument BITCODE OBJECT.
 *
 * Rust's standard library is a precompiled crate. Its locks, once-cells and channels use atomic operations that were
 * compiled without ThreadSanitizer. Therefore ThreadSanitizer would see no order between two threads that use the same
 * lock. The archive of the crate also contains LLVM bitcode. This program reads the bitcode, runs LLVM's
 * ThreadSanitizer pass, and writes an object file that replaces the one in the archive. The functions do not have the
 * attribute sanitize_thread, so the pass instruments only their atomic operations. ThreadSanitizer then knows the order
 * that each lock creates, and reports no plain memory accesses of the standard library.
 *
 * The program is linked with rustc's libLLVM, and declares the functions of LLVM's C interface that it calls. */
#include <stdio.h>
#include <stdlib.h>

typedef struct context *context_ref;
typedef struct module *module_ref;
typedef struct buffer *buffer_ref;
typedef struct target *target_ref;
typedef struct machine *machine_ref;
typedef struct options *options_ref;
typedef struct failure *failure_ref;

context_ref LLVMContextCreate(void);
int LLVMCreateMemoryBufferWithContentsOfFile(const char *path, buffer_ref *out, char **message);
int LLVMParseBitcodeInContext2(context_ref context, buffer_ref buffer, module_ref *out);
const char *LLVMGetTarget(module_ref module);
int LLVMGetTargetFromTriple(const char *triple, target_ref *out, char **message);
machine_ref LLVMCreateTargetMachine(target_ref target, const char *triple, const char *cpu, const char *features,
                                    int level, int relocation, int code_model);
options_ref LLVMCreatePassBuilderOptions(void);
failure_ref LLVMRunPasses(module_ref module, const char *passes, machine_ref machine, options_ref options);
char *LLVMGetErrorMessage(failure_ref failure);
int LLVMTargetMachineEmitToFile(machine_ref machine, module_ref module, const char *file, int kind, char **message);

/* LLVM has a set of initialization functions for each architecture. */
#if defined(__x86_64__)
#define INITIALIZE(what) LLVMInitializeX86##what
#elif defined(__aarch64__)
#define INITIALIZE(what) LLVMInitializeAArch64##what
#else
#error "name this architecture as LLVM does"
#endif
void INITIALIZE(TargetInfo)(void);
void INITIALIZE(Target)(void);
void INITIALIZE(TargetMC)(void);
void INITIALIZE(AsmPrinter)(void);
void INITIALIZE(AsmParser)(void);

enum { LEVEL_DEFAULT = 2, RELOCATION_PIC = 2, CODE_MODEL_DEFAULT = 0, OBJECT_FILE = 1 };

static void give_up(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why != NULL ? why : "no reason given");
    exit(1);
}

int main(int argc, char **argv) {
    if (argc != 3) give_up("usage", "instrument BITCODE OBJECT");
    INITIALIZE(TargetInfo)();
    INITIALIZE(Target)();
    INITIALIZE(TargetMC)();
    INITIALIZE(AsmPrinter)();
    INITIALIZE(AsmParser)();

    buffer_ref bitcode = NULL;
    module_ref module = NULL;
    char *why = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(argv[1], &bitcode, &why) != 0) give_up(argv[1], why);
    if (LLVMParseBitcodeInContext2(LLVMContextCreate(), bitcode, &module) != 0) give_up(argv[1], "not LLVM's bitcode");

    target_ref target = NULL;
    const char *triple = LLVMGetTarget(module);
    if (LLVMGetTargetFromTriple(triple, &target, &why) != 0) give_up(triple, why);
    machine_ref machine =
        LLVMCreateTargetMachine(target, triple, "", "", LEVEL_DEFAULT, RELOCATION_PIC, CODE_MODEL_DEFAULT);

    failure_ref failure = LLVMRunPasses(module, "tsan-module,function(tsan)", machine, LLVMCreatePassBuilderOptions());
    if (failure != NULL) give_up("the ThreadSanitizer pass", LLVMGetErrorMessage(failure));
    if (LLVMTargetMachineEmitToFile(machine, module, argv[2], OBJECT_FILE, &why) != 0) give_up(argv[2], why);
    return 0;
}
