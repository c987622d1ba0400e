<?php

declare(strict_types=1);

namespace Netlib;

use FFI\CData;

/** An object of netlib. The destructor frees it, unless close() has. */
abstract class Handle
{
    protected const FREE = '';

    /** The pointer of an object that is open and not borrowed. */
    protected ?CData $pointer = null;

    /** The pointer of a borrowed object, which is not freed. */
    private ?CData $borrowed = null;

    /** The objects that must live as long as this one. */
    private mixed $keep = null;

    /** @var array<class-string, \ReflectionClass<Handle>> */
    private static array $classes = [];

    public function __destruct()
    {
        if ($this->pointer !== null) {
            Runtime::$c->{static::FREE}($this->pointer);
        }
    }

    /**
     * Frees the object. If a callback or a signal handler closes an object that a call is using, the call goes on, and
     * the object is freed when the call returns. To end a wait, use Limit::cancel().
     */
    public function close(): void
    {
        $pointer = $this->pointer;
        $this->pointer = null;
        $this->borrowed = null;
        if ($pointer !== null) {
            Runtime::$c->{static::FREE}($pointer);
        }
        $this->keep = null;
    }

    /** @internal */
    public static function own(?CData $pointer, mixed $keep = null): ?static
    {
        if ($pointer === null) {
            return null;
        }
        $class = self::$classes[static::class] ??= new \ReflectionClass(static::class);
        $object = $class->newInstanceWithoutConstructor();
        $object->pointer = $pointer;
        $object->keep = $keep;
        return $object;
    }

    /**
     * @internal
     *
     * @param list<Handle|Error|null> $lenders
     */
    public static function borrow(?CData $pointer, array $lenders): ?static
    {
        if ($pointer === null || \FFI::isNull($pointer)) {
            return null;
        }
        $object = (new \ReflectionClass(static::class))->newInstanceWithoutConstructor();
        $object->borrowed = $pointer;
        $object->keep = $lenders;
        return $object;
    }

    /** @internal */
    public function pointer(): CData
    {
        if ($this->borrowed !== null) {
            // A borrowed object is closed when one of its lenders is closed.
            foreach ($this->keep as $lender) {
                ($lender instanceof Error ? $lender->info : $lender)?->pointer();
            }
            return $this->borrowed;
        }
        return $this->pointer ?? throw new \LogicException('the object of the class ' . static::class . ' is closed');
    }

    /** Sets the pointer of a new object. A constructor that is called again frees the earlier pointer. */
    protected function adopt(CData $pointer, mixed $keep = null): void
    {
        $this->close();
        $this->pointer = $pointer;
        $this->keep = $keep;
    }

    /** Transfers the pointer to netlib. @internal */
    public function give(): CData
    {
        $pointer = $this->pointer();
        $this->pointer = null;
        return $pointer;
    }

    /** Refuses the expression `clone $object`, whose result would free the pointer again. */
    public function __clone()
    {
        $this->pointer = null;
        $this->borrowed = null;
        throw new \Error('an object of the class ' . static::class . ' cannot be cloned by the expression "clone"');
    }

    /** @return never */
    public function __serialize(): array
    {
        throw new \LogicException('an object of the class ' . static::class . ' cannot be serialized');
    }

    /** @param array<mixed> $data */
    public function __unserialize(array $data): void
    {
        throw new \LogicException('an object of the class ' . static::class . ' cannot be unserialized');
    }

    /**
     * The object without pointers and secrets, for var_dump and debuggers.
     *
     * @return array<string, mixed>
     */
    public function __debugInfo(): array
    {
        return $this->pointer === null && $this->borrowed === null ? ['closed' => true] : [];
    }
}
