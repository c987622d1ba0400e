<?php

declare(strict_types=1);

namespace Netlib;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseFactoryInterface;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Psr\Http\Message\StreamInterface;

/**
 * A PSR-18 client that repeats requests and follows redirects as a Retry decides. It needs the packages
 * psr/http-client and psr/http-factory.
 *
 * Each attempt uses a connection of its own. The request target is made from the URI of the request. The whole body of
 * the response is read before sendRequest() returns; php://temp holds it.
 */
final class Psr18Client implements ClientInterface
{
    private readonly Retry $retry;
    private readonly TlsContext $context;
    private readonly ConnectOptions $options;

    /**
     * @param ResponseFactoryInterface $responses makes the responses
     * @param StreamFactoryInterface $streams makes the bodies of the responses
     * @param ?RetryOptions $retry the policy; null for the recommended settings. An exhausted policy returns the last
     *     response, as PSR-18 demands. With every policy, a redirect to another origin drops Host and the headers of
     *     sensitive_headers().
     * @param ?TlsContext $context the settings of TLS; null for the default settings
     * @param ?ConnectOptions $options the settings of connections; null for a timeout of 20 seconds
     * @param ?float $seconds the time for a request with all attempts and the waits between them; null for no limit
     * @param ?int $maxBody the maximum size of a response's body in bytes; null for no maximum
     * @throws \ValueError if $maxBody is negative
     */
    public function __construct(
        private readonly ResponseFactoryInterface $responses,
        private readonly StreamFactoryInterface $streams,
        ?RetryOptions $retry = null,
        ?TlsContext $context = null,
        ?ConnectOptions $options = null,
        private readonly ?float $seconds = 120,
        private readonly ?int $maxBody = 64 * 1024 * 1024,
    ) {
        if ($maxBody !== null && $maxBody < 0) {
            throw new \ValueError('$maxBody must be 0 or more, or null');
        }
        $retry = $retry?->clone() ?? RetryOptions::newRecommended();
        $policy = new Retry($retry->raiseOnStatus(false)->raiseOnRedirect(false)->addSensitiveHeaders());
        $removed = array_map($policy->removedHeader(...), range(0, $policy->removedHeaderCount() - 1));
        $this->retry = new Retry($retry->removeHeadersOnRedirect(['Host', ...$removed]));
        $this->context = $context ?? new TlsContext();
        $this->options = $options ?? (new ConnectOptions())->timeout(20);
    }

    /**
     * Sends a request, and returns the response, whatever its status.
     *
     * @throws Psr18RequestException if the request cannot be sent as it is
     * @throws Psr18NetworkException if there is no response, its body is too large, or $responses refuses it
     * @throws Psr18Exception if the policy refuses a redirect, or its target is invalid
     */
    public function sendRequest(RequestInterface $request): ResponseInterface
    {
        $body = $request->getBody();
        $length = $body->getSize();
        if ($length === null || !$body->isSeekable()) {
            $body = $this->streams->createStream((string) $body);
            $length = $body->getSize() ?? 0;
        }
        try {
            $url = parse_url_strict((string) $request->getUri());
            $headers = new Headers($this->fields($request, $length));
            $limit = new Limit($this->seconds);
            $attempts = new Attempts($this->retry, $request->getMethod(), $url, $headers, $length > 0, $limit);
            $attempts->request(REQUEST_FORM_ORIGIN);
        } catch (Error $error) {
            throw new Psr18RequestException($request, $error);
        }
        try {
            return $this->send($request, $attempts, $body);
        } catch (Error $error) {
            $isRedirect = $error instanceof UrlError || $error->status() === UNSAFE_REDIRECT;
            throw $isRedirect ? new Psr18Exception($request, $error) : new Psr18NetworkException($request, $error);
        }
    }

    /** Makes the attempts of a request. */
    private function send(RequestInterface $request, Attempts $attempts, StreamInterface $body): ResponseInterface
    {
        do {
            $stream = null;
            try {
                $stream = connect($attempts->url() ?? '', $this->context, $this->options, $attempts->limit());
                $stream->sendAll($attempts->request(REQUEST_FORM_ORIGIN)->toWire() ?? '');
                if ($attempts->sendsBody()) {
                    $body->rewind();
                    while (!$body->eof()) {
                        $stream->sendAll($body->read(65536));
                    }
                }
                $response = $stream->response($attempts->method() ?? '');
                $status = $attempts->next($response);
                if ($status === OK) {
                    return $this->head($request, $response)->withBody($this->body($stream, $response));
                }
            } catch (Error $error) {
                $status = $attempts->next(null, $error);
            } finally {
                $stream?->close();
            }
        } while ($status === SEND_AGAIN);
        throw new \LogicException('the request has ended without a response');
    }

    /**
     * The fields of a request. netlib makes Host from the URL of each attempt, unless the request has a Host of its
     * own.
     *
     * @return list<array{string, string}>
     */
    private function fields(RequestInterface $request, int $length): array
    {
        $uri = $request->getUri();
        $host = $uri->getHost() . ($uri->getPort() === null ? '' : ":{$uri->getPort()}");
        $request = $request->withoutHeader('Connection')->withoutHeader('Content-Length')
            ->withoutHeader('Transfer-Encoding');
        if ($request->getHeaderLine('Host') === $host) {
            $request = $request->withoutHeader('Host');
        }
        $fields = [['Connection', 'close']];
        foreach ($request->getHeaders() as $name => $values) {
            foreach ($values as $value) {
                $fields[] = [(string) $name, $value];
            }
        }
        if ($length > 0 || \in_array($request->getMethod(), ['POST', 'PUT', 'PATCH'], true)) {
            $fields[] = ['Content-Length', (string) $length];
        }
        return $fields;
    }

    /** Makes the response without its body. */
    private function head(RequestInterface $request, Response $response): ResponseInterface
    {
        try {
            $made = $this->responses->createResponse($response->status(), $response->reason() ?? '');
            foreach ($response->headers() ?? [] as $name => $value) {
                $made = $made->withAddedHeader($name, $value);
            }
            return $made->withProtocolVersion('1.' . $response->minorVersion());
        } catch (\InvalidArgumentException $error) {
            throw new Psr18NetworkException($request, $error);
        }
    }

    private function body(Stream $stream, Response $response): StreamInterface
    {
        $body = $this->streams->createStreamFromFile('php://temp', 'w+b');
        foreach ($stream->pieces($response, $this->maxBody) as $piece) {
            $body->write($piece);
        }
        $body->rewind();
        return $body;
    }
}
