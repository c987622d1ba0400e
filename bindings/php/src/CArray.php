<?php

declare(strict_types=1);

namespace Netlib;

use FFI\CData;

/**
 * An array of C, with the memory to which its elements point.
 *
 * @internal
 */
final class CArray
{
    public ?CData $pointer = null;

    /** @var list<CData> */
    private array $texts = [];

    public function __construct(string $type, int $count)
    {
        if ($count > 0) {
            $this->pointer = Runtime::$c->new("{$type}[$count]");
        }
    }

    /** A copy of a text as a C string. */
    public function text(string $text): CData
    {
        $copy = Runtime::$c->new('char[' . (\strlen($text) + 1) . ']');
        \FFI::memcpy($copy, $text, \strlen($text));
        $this->texts[] = $copy;
        return Runtime::$c->cast('char *', $copy);
    }
}
