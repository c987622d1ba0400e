<?php

declare(strict_types=1);

namespace Netlib;

/** A text is no valid URL. */
final class UrlError extends Error
{
}
