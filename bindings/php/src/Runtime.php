<?php

declare(strict_types=1);

namespace Netlib;

use FFI\CData;

/**
 * The functions that generated code calls.
 *
 * @internal
 */
final class Runtime
{
    public static \FFI $c;

    /** @var array<string, \FFI\CType> */
    private static array $types = [];

    /** One C function per type of callback, because PHP frees a C function only at its end. @var array<string, CData> */
    private static array $callbacks = [];

    /** The objects that netlib holds, by key: callbacks by their types, or a value. @var array<int, mixed> */
    private static array $held = [];
    private static int $lastKey = 0;

    /** The exception of a callback during the current call. */
    private static ?\Throwable $raised = null;
    private static ?Limit $defaultLimit = null;

    /** Loads the library beside this package, or else the library of the system. */
    public static function load(string $version, string $directory): void
    {
        try {
            $c = \FFI::scope('netlib'); // preloaded: see README.md
        } catch (\FFI\Exception) {
            $library = "$directory/libnetlib.so.0.1";
            $library = is_file($library) ? $library : 'libnetlib.so.0.1';
            self::check($version, \FFI::cdef('const char *netlib_version(void);', $library)->netlib_version());
            $c = \FFI::cdef(file_get_contents("$directory/src/netlib.h"), $library);
        }
        self::$c = $c;
        self::check($version, \FFI::string($c->netlib_version()));
        self::$callbacks['netlib_ctx_free_fn'] = self::pointerOf('netlib_ctx_free_fn', static function (int $key): void {
            unset(self::$held[$key]);
        });
        foreach (require __DIR__ . '/callbacks.php' as $name => $function) {
            self::$callbacks[$name] = self::pointerOf($name, $function);
        }
        self::$held[0] = ['netlib_interrupt_fn' => static function (): int {
            if (\function_exists('pcntl_signal_dispatch')) {
                pcntl_signal_dispatch();
            }
            return INTERRUPT_CONTINUE;
        }];
    }

    /** Refuses a library of another minor version, whose ABI may differ. */
    private static function check(string $version, string $loaded): void
    {
        $minor = static fn (string $text): string => implode('.', \array_slice(explode('.', $text), 0, 2));
        if ($minor($version) !== $minor($loaded)) {
            throw new \RuntimeException("netlib for PHP $version needs netlib {$minor($version)}, but loaded netlib $loaded");
        }
    }

    private static function pointerOf(string $type, \Closure $function): CData
    {
        $cell = self::$c->new("{$type}[1]", false, true);
        $cell[0] = $function;
        return $cell[0];
    }

    // ---- Variables of C.

    public static function cell(string $type, int|float|null $value = null): CData
    {
        $cell = self::$c->new(self::$types[$type] ??= self::$c->type($type));
        if ($value !== null) {
            $cell->cdata = $value;
        }
        return $cell;
    }

    public static function buffer(int $size): CData
    {
        return self::$c->new('char[' . max($size, 1) . ']');
    }

    public static function bufferText(CData $buffer, int $length): string
    {
        return \FFI::string($buffer, $length);
    }

    // ---- Handles.

    public static function own(string $class, ?CData $pointer, mixed $keep = null): ?object
    {
        return self::make($class, $pointer, $keep, false);
    }

    /** @param list<mixed> $lenders */
    public static function borrow(string $class, ?CData $pointer, array $lenders): ?object
    {
        return self::make($class, $pointer, $lenders, true);
    }

    private static function make(string $class, ?CData $pointer, mixed $keep, bool $isBorrowed): ?object
    {
        if ($pointer === null || \FFI::isNull($pointer)) {
            return null;
        }
        $object = (new \ReflectionClass($class))->newInstanceWithoutConstructor();
        $object->adopt($pointer, $keep, $isBorrowed);
        return $object;
    }

    public static function pointer(Handle $object): CData
    {
        return $object->pointer();
    }

    public static function optionalPointer(?Handle $object): ?CData
    {
        return $object?->pointer();
    }

    public static function errorPointer(Error|ErrorInfo|null $object): ?CData
    {
        return $object instanceof Error ? $object->info->pointer() : $object?->pointer();
    }

    /** The limit of a call. The default limit has no deadline, and runs PHP's signal handlers during waits. */
    public static function limitPointer(?Limit $limit): CData
    {
        return ($limit ?? self::$defaultLimit ??= new Limit(null))->pointer();
    }

    /** Gives a stream the default limit. */
    public static function withLimit(?Stream $stream): ?Stream
    {
        $stream?->setLimit(self::$defaultLimit ??= new Limit(null));
        return $stream;
    }

    // ---- Arguments.

    public static function data(string $value): string
    {
        return $value;
    }

    public static function optionalData(?string $value): ?string
    {
        return $value;
    }

    /** Text that ends at its NUL. Refuses text with a NUL, because C would read only the text before the NUL. */
    public static function text(string $value, string $name): string
    {
        if (str_contains($value, "\0")) {
            throw new \ValueError("\$$name must not contain a NUL");
        }
        return $value;
    }

    public static function optionalText(?string $value, string $name): ?string
    {
        return $value === null ? null : self::text($value, $name);
    }

    public static function truth(bool $value): int
    {
        return $value ? 1 : 0;
    }

    public static function seconds(?float $value): float
    {
        return $value ?? INF;
    }

    public static function numberOrNull(?float $value): ?CData
    {
        return $value === null ? null : \FFI::addr(self::cell('double', $value));
    }

    public static function descriptor(int $value): int
    {
        return $value;
    }

    /** @param list<string> $list */
    public static function texts(array $list): CArray
    {
        $array = new CArray('char *', \count($list));
        foreach ($list as $at => $text) {
            $array->pointer[$at] = $array->text(self::text($text, 'list'));
        }
        return $array;
    }

    /** @param list<int> $list */
    public static function ints(array $list): CArray
    {
        $array = new CArray('int32_t', \count($list));
        foreach ($list as $at => $number) {
            $array->pointer[$at] = $number;
        }
        return $array;
    }

    /** Header fields: names and values, or a list of pairs. @param array<string, string>|list<array{string, string}> $list */
    public static function fields(array $list): CArray
    {
        $array = new CArray('netlib_header_field', \count($list));
        $at = 0;
        foreach ($list as $name => $value) {
            [$name, $value] = \is_array($value) ? $value : [(string) $name, $value];
            $array->pointer[$at]->name = $array->text(self::text($name, 'name'));
            $array->pointer[$at++]->value = $array->text(self::text($value, 'value'));
        }
        return $array;
    }

    /** @param list<string> $list */
    public static function slices(array $list): CArray
    {
        $array = new CArray('netlib_slice', \count($list));
        foreach ($list as $at => $data) {
            $array->pointer[$at]->data = $array->text($data);
            $array->pointer[$at]->len = \strlen($data);
        }
        return $array;
    }

    // ---- Results. A string of PHP holds any bytes, so text and bytes are equal.

    public static function toText(?CData $pointer, ?int $length = null): ?string
    {
        if ($pointer === null || \FFI::isNull($pointer)) {
            return null;
        }
        return $length === null ? \FFI::string($pointer) : \FFI::string($pointer, $length);
    }

    public static function toBytes(?CData $pointer, ?int $length = null): ?string
    {
        return self::toText($pointer, $length);
    }

    /** @return list<string> */
    public static function toTexts(?CData $pointer, int $length): array
    {
        $list = [];
        for ($at = 0; $at < $length; $at++) {
            $list[] = \FFI::string($pointer[$at]);
        }
        return $list;
    }

    /** @return list<int> */
    public static function toInts(?CData $pointer, int $length): array
    {
        $list = [];
        for ($at = 0; $at < $length; $at++) {
            $list[] = $pointer[$at];
        }
        return $list;
    }

    public static function ownDescriptor(int $fd): ?int
    {
        return $fd < 0 ? null : $fd;
    }

    // ---- Errors.

    /** Throws the error of a failed call, or the exception of the callback that made the call fail. */
    public static function fail(int $status, CData $err): never
    {
        $info = self::own(ErrorInfo::class, $err);
        self::reraise();
        throw Error::of($info);
    }

    public static function reraise(): void
    {
        if (self::$raised !== null) {
            $raised = self::$raised;
            self::$raised = null;
            throw $raised;
        }
    }

    // ---- Callbacks.

    public static function callback(string $type): CData
    {
        return self::$callbacks[$type];
    }

    public static function hold(mixed $value): int
    {
        self::$held[++self::$lastKey] = $value;
        return self::$lastKey;
    }

    public static function heldValue(int $key): mixed
    {
        return $key === 0 ? null : self::$held[$key];
    }

    /** The number of objects that netlib holds, for tests. */
    public static function heldCount(): int
    {
        return \count(self::$held);
    }

    /**
     * Calls a callback, and passes its result to a function. Keeps an exception for the caller of the outer call, unless
     * an earlier callback of that call has thrown one. The calls of the callback do not throw the earlier exception.
     */
    public static function try(int $key, string $type, int $failure, \Closure $store, mixed ...$arguments): int
    {
        $earlier = self::$raised;
        self::$raised = null;
        try {
            return $store((self::$held[$key][$type])(...$arguments));
        } catch (\Throwable $raised) {
            self::$raised = $raised;
            return $failure;
        } finally {
            foreach ($arguments as $argument) {
                if ($argument instanceof Handle) {
                    $argument->close();
                }
            }
            self::$raised = $earlier ?? self::$raised;
        }
    }

    public static function storeNumber(CData $cell, int|float $result): int
    {
        $cell[0] = $result;
        return 0;
    }

    /**
     * Stores the numbers that a callback has returned in an array after its result.
     *
     * @param int|list<int|float> $result
     */
    public static function storeValues(int|array $result, CData ...$cells): int
    {
        if (\is_int($result)) {
            return $result;
        }
        foreach ($cells as $at => $cell) {
            if (isset($result[$at + 1])) {
                self::storeNumber($cell, $result[$at + 1]);
            }
        }
        return $result[0];
    }

    public static function storeHandle(CData $cell, int|Handle $result): int
    {
        if (\is_int($result)) {
            return $result;
        }
        $cell[0] = $result->clone()->give();
        return 1;
    }

    /** Stores the text that a callback has read, null at the end. */
    public static function store(?CData $buffer, int $size, CData $length, ?string $result): int
    {
        $result ??= '';
        if (\strlen($result) > $size) {
            throw new \LengthException('the callback returned ' . \strlen($result) . " bytes for a buffer of $size");
        }
        if ($result !== '') {
            \FFI::memcpy($buffer, $result, \strlen($result));
        }
        $length[0] = \strlen($result);
        return 0;
    }
}
