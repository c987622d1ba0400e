<?php

declare(strict_types=1);

namespace Netlib;

/** @internal */
trait StreamMethods
{
    /** Writes all bytes to a stream that blocks. */
    public function sendAll(string $data): void
    {
        while ($data !== '') {
            [$written, $status] = $this->write($data);
            Runtime::finished($status);
            $data = substr($data, $written);
        }
    }

    /** Reads the response to a request from a stream that blocks. */
    public function response(string $method): Response
    {
        [$response, $status] = $this->readResponse($method);
        Runtime::finished($status);
        return $response;
    }

    /**
     * The pieces of a response's body.
     *
     * @param ?int $maxSize the maximum size of the body in bytes; null for no maximum
     * @return \Generator<int, string>
     */
    public function pieces(Response $response, ?int $maxSize = null): \Generator
    {
        $decoder = new BodyDecoder($response);
        if ($maxSize !== null) {
            $decoder->setMaxSize($maxSize);
        }
        while (true) {
            [$piece, $status] = $this->readBody($decoder, 65536);
            if ($status === END_OF_STREAM) {
                return;
            }
            Runtime::finished($status);
            yield $piece;
        }
    }

    /** The body of a response as one string. */
    public function body(Response $response): string
    {
        return implode('', iterator_to_array($this->pieces($response), false));
    }
}
