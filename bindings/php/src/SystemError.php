<?php

declare(strict_types=1);

namespace Netlib;

/** The system failed, or memory ran out. */
final class SystemError extends Error
{
}
