<?php

declare(strict_types=1);

namespace Netlib;

/** A status of the application. */
final class ApplicationError extends Error
{
}
