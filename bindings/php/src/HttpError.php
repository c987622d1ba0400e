<?php

declare(strict_types=1);

namespace Netlib;

/** The peer broke the rules of HTTP. */
final class HttpError extends Error
{
}
