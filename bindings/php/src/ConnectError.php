<?php

declare(strict_types=1);

namespace Netlib;

/** No connection was made. */
final class ConnectError extends Error
{
}
