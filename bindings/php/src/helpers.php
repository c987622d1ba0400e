<?php

// The functions that are written by hand.

declare(strict_types=1);

namespace Netlib;

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
    Runtime::finished($status);
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

// With opcache.preload, PHP may know the class without having run its file.
// phpcs:disable PSR1.Files.SideEffects
if (class_exists(Runtime::class, false)) {
    Runtime::load(VERSION, \dirname(__DIR__));
}
