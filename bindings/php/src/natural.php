<?php

declare(strict_types=1);

namespace Netlib;

/** @internal */
trait UrlMethods
{
    public function __toString(): string
    {
        return $this->toString();
    }
}

/** @internal */
trait StreamMethods
{
    /** Writes all bytes to a stream that blocks. */
    public function sendAll(string $data): void
    {
        while ($data !== '') {
            [$written, $status] = $this->write($data);
            finished($status);
            $data = substr($data, $written);
        }
    }

    /** Reads the response to a request from a stream that blocks. */
    public function response(string $method): Response
    {
        [$response, $status] = $this->readResponse($method);
        finished($status);
        return $response;
    }

    /**
     * The pieces of a response's body.
     *
     * @return \Generator<int, string>
     */
    public function pieces(Response $response): \Generator
    {
        $decoder = new BodyDecoder($response);
        while (true) {
            [$piece, $status] = $this->readBody($decoder, 65536);
            if ($status === END_OF_STREAM) {
                return;
            }
            finished($status);
            yield $piece;
        }
    }

    /** The body of a response as one string. */
    public function body(Response $response): string
    {
        return implode('', iterator_to_array($this->pieces($response), false));
    }
}

/**
 * Throws an error if a call could not finish because its stream does not block. The error has another status, because
 * the status of the call is progress, and not a failure.
 *
 * @internal
 */
function finished(int $status): void
{
    if ($status !== OK) {
        throw make_error(INVALID_ARGUMENT, 'a stream that does not block cannot finish this call');
    }
}

/**
 * Connects to the server of a URL, and makes the TLS handshake for https. Text is parsed by parse_url_strict. Without a
 * context, an https URL gets a context with the default options.
 */
function connect(
    Url|string $url,
    ?TlsContext $context = null,
    ?ConnectOptions $options = null,
    ?Limit $limit = null,
): Stream {
    $url = \is_string($url) ? parse_url_strict($url) : $url;
    if ($context === null && $url->scheme() === 'https') {
        $context = new TlsContext();
    }
    [$stream, $status] = Stream::connect($url, $context, $options, $limit);
    finished($status);
    return $stream;
}

/**
 * Makes an exception of the application's own HTTP layer, about which a Retry can decide. The exceptions of the retries
 * lead back to the user data.
 */
function make_error(int $status, string $message, mixed $userData = null): Error
{
    $options = new ErrorOptions();
    if ($userData !== null) {
        $options->userData($userData);
    }
    return Error::of(new ErrorInfo($status, $message, $options));
}
