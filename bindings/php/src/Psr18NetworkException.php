<?php

declare(strict_types=1);

namespace Netlib;

use Psr\Http\Client\NetworkExceptionInterface;

/** There is no response: the connection failed, or a timeout ended the request, for example. */
final class Psr18NetworkException extends Psr18Exception implements NetworkExceptionInterface
{
}
