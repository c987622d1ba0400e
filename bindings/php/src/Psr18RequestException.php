<?php

declare(strict_types=1);

namespace Netlib;

use Psr\Http\Client\RequestExceptionInterface;

/** The request cannot be sent as it is: its URI or a header is invalid, for example. */
final class Psr18RequestException extends Psr18Exception implements RequestExceptionInterface
{
}
