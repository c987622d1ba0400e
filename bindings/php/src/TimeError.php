<?php

declare(strict_types=1);

namespace Netlib;

/** A timeout or a limit ended the call. */
final class TimeError extends Error
{
}
