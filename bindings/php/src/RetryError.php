<?php

declare(strict_types=1);

namespace Netlib;

/** No further attempt is made. */
final class RetryError extends Error
{
}
