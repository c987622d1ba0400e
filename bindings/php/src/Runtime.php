<?php

declare(strict_types=1);

namespace Netlib;

use FFI\CData;
use FFI\CType;

/**
 * The functions that generated code calls.
 *
 * @internal
 */
final class Runtime
{
    public static \FFI $c;

    /** @var array<string, CType> */
    public static array $types = [];

    /**
     * One C function per type of callback, because PHP frees a C function only at its end.
     *
     * @var array<string, CData>
     */
    private static array $callbacks = [];

    /** The objects that netlib holds, by key: callbacks by their types, or a value. @var array<int, mixed> */
    private static array $held = [];
    private static int $lastKey = 0;

    /** The name in PHP of each name of C. @var ?array<string, string> */
    private static ?array $names = null;

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
            self::check($version, self::open('const char *netlib_version(void);', $library)->netlib_version());
            $c = self::open((string) file_get_contents("$directory/src/netlib.h"), $library);
        }
        self::check($version, $c->netlib_version());
        self::$c = $c;
        $release = static function (int $key): void {
            unset(self::$held[$key]);
        };
        self::$callbacks['netlib_ctx_free_fn'] = self::pointerOf('netlib_ctx_free_fn', $release);
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

    private static function open(string $declarations, string $library): \FFI
    {
        try {
            return \FFI::cdef($declarations, $library);
        } catch (\FFI\Exception $error) {
            $machine = php_uname('s') . ' ' . php_uname('m');
            $message = "netlib for PHP cannot load the library $library on $machine: {$error->getMessage()}";
            throw new \RuntimeException($message, 0, $error);
        }
    }

    /** Refuses a library of another minor version, whose ABI may differ. */
    private static function check(string $version, string $loaded): void
    {
        $minor = static fn (string $text): string => implode('.', \array_slice(explode('.', $text), 0, 2));
        if ($minor($version) !== $minor($loaded)) {
            $message = "netlib for PHP $version needs netlib {$minor($version)}, but loaded netlib $loaded";
            throw new \RuntimeException($message);
        }
    }

    private static function pointerOf(string $type, \Closure $function): CData
    {
        $cell = self::$c->new("{$type}[1]", false, true);
        $cell[0] = $function;
        return $cell[0];
    }

    // ---- Variables of C.

    public static function type(string $name): CType
    {
        return self::$types[$name] = self::$c->type($name);
    }

    /** An array with one element, which has a value. */
    public static function cell(string $type, int|float $value): CData
    {
        $cell = self::$c->new(self::$types[$type] ?? self::type($type));
        $cell[0] = $value;
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

    public static function numberOrNull(?float $value): ?CData
    {
        return $value === null ? null : self::cell('double[1]', $value);
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

    /**
     * Header fields: names and values, or a list of pairs.
     *
     * @param array<string, string>|list<array{string, string}> $list
     */
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

    // ---- Streams.

    /**
     * Throws an error if a call could not finish because its stream does not block. The error has another status,
     * because the status of the call is progress, and not a failure.
     */
    public static function finished(int $status): void
    {
        if ($status !== OK) {
            throw make_error(INVALID_ARGUMENT, 'a stream that does not block cannot finish this call');
        }
    }

    // ---- Errors.

    /** The text of an error with the names of PHP instead of those of C. */
    public static function words(?string $text): ?string
    {
        return $text === null ? null : preg_replace_callback('/(?:\benum )?\b(netlib_\w+)/', self::nameOf(...), $text);
    }

    /** @param array{string, string} $found the matched text, and the name of C in it */
    private static function nameOf(array $found): string
    {
        self::$names ??= require __DIR__ . '/names.php';
        return self::$names[$found[1]] ?? $found[0];
    }

    /** Throws the error of a failed call, or the exception of the callback that made the call fail. */
    public static function fail(int $status, CData $err): never
    {
        $info = ErrorInfo::own($err[0]);
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
     * Calls a callback, and passes its result to a function. Keeps an exception for the caller of the outer call,
     * unless an earlier callback of that call has thrown one. The calls of the callback do not throw the earlier
     * exception.
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

// Loads the library before the first use of the class.
// phpcs:disable PSR1.Files.SideEffects
Runtime::load(VERSION, \dirname(__DIR__));
