<?php

declare(strict_types=1);

namespace Netlib;

/** @internal */
trait PairMethods
{
    /**
     * The names and values in their order. A name may occur several times.
     *
     * @return \Generator<string, ?string>
     */
    public function getIterator(): \Generator
    {
        for ($at = 0; $at < $this->count(); $at++) {
            yield (string) $this->name($at) => $this->value($at);
        }
    }
}
