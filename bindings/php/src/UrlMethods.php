<?php

declare(strict_types=1);

namespace Netlib;

/** @internal */
trait UrlMethods
{
    /** The whole URL with its userinfo. In logs, use redacted(). */
    public function __toString(): string
    {
        return $this->toString() ?? throw new \RuntimeException('out of memory');
    }

    /** Compares the normalised text of two URLs. The operator == compares objects of netlib by identity. */
    public function equals(?Url $other): bool
    {
        return $other !== null && (string) $this === (string) $other;
    }

    /** @return array<string, mixed> */
    public function __debugInfo(): array
    {
        return parent::__debugInfo() ?: ['url' => $this->redacted()];
    }
}
