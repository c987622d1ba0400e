<?php

declare(strict_types=1);

namespace Netlib;

use FFI\CData;

/** An object of netlib. The destructor frees it, unless close() has. */
abstract class Handle
{
    protected const FREE = '';

    private ?CData $pointer = null;

    /** The objects that must live as long as this one. A borrowed object does not free its pointer. */
    private mixed $keep = null;
    private bool $isBorrowed = false;

    public function __destruct()
    {
        $this->close();
    }

    /** Frees the object. */
    public function close(): void
    {
        $pointer = $this->pointer;
        $this->pointer = null;
        if ($pointer !== null && !$this->isBorrowed) {
            Runtime::$c->{static::FREE}($pointer);
        }
        $this->keep = null;
    }

    /** @internal */
    public function pointer(): CData
    {
        // A borrowed object is closed when one of its lenders is closed.
        if ($this->isBorrowed) {
            foreach ($this->keep ?? [] as $lender) {
                ($lender instanceof Error ? $lender->info : $lender)?->pointer();
            }
        }
        return $this->pointer ?? throw new \LogicException('the object of the class ' . static::class . ' is closed');
    }

    /** @internal */
    public function adopt(CData $pointer, mixed $keep = null, bool $isBorrowed = false): void
    {
        $this->pointer = $pointer;
        $this->keep = $keep;
        $this->isBorrowed = $isBorrowed;
    }

    /** Transfers the pointer to netlib. @internal */
    public function give(): CData
    {
        $pointer = $this->pointer();
        $this->pointer = null;
        return $pointer;
    }

    /** The expression `clone $object` would free the pointer twice. Some classes have a method clone(). */
    private function __clone()
    {
    }

    public function __serialize(): array
    {
        throw new \LogicException('an object of the class ' . static::class . ' cannot be serialized');
    }
}
