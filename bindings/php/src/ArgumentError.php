<?php

declare(strict_types=1);

namespace Netlib;

/** An argument was refused. */
final class ArgumentError extends Error
{
}
