<?php

declare(strict_types=1);

namespace Netlib;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Message\RequestInterface;

/**
 * A request of a Psr18Client without a response. getPrevious() returns the error of netlib, or the exception with which
 * the factory of the responses refused the response.
 */
class Psr18Exception extends \RuntimeException implements ClientExceptionInterface
{
    /** @internal */
    final public function __construct(private readonly RequestInterface $request, \Throwable $error)
    {
        parent::__construct($error->getMessage(), $error->getCode(), $error);
    }

    /** The request that the application has passed. */
    public function getRequest(): RequestInterface
    {
        return $this->request;
    }
}
