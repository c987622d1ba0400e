<?php

// Downloads a URL with the recommended settings, and writes the body to standard output.
//
// usage: php get.php URL

require __DIR__ . '/vendor/autoload.php';

if ($argc !== 2) {
    fwrite(STDERR, "usage: php get.php URL\n");
    exit(2);
}
try {
    $limit = new Netlib\Limit(120); // bounds all attempts, and the waits between them
    $context = new Netlib\TlsContext();
    $options = (new Netlib\ConnectOptions())->timeout(20);
    $headers = new Netlib\Headers(['connection' => 'close']);
    $url = Netlib\parse_url_strict($argv[1]);
    $attempts = new Netlib\Attempts(Netlib\Retry::recommended(), 'GET', $url, $headers, false, $limit);
    do {
        $stream = null;
        try {
            $stream = Netlib\connect($attempts->url(), $context, $options, $limit);
            $stream->sendAll($attempts->request(Netlib\REQUEST_FORM_ORIGIN)->toWire());
            $response = $stream->response($attempts->method());
            $status = $attempts->next($response); // waits before a retry
            if ($status === Netlib\OK) {
                foreach ($stream->pieces($response) as $piece) {
                    echo $piece;
                }
            }
        } catch (Netlib\Error $error) {
            $status = $attempts->next(null, $error); // waits before a retry, or throws the error
        } finally {
            $stream?->close();
        }
    } while ($status === Netlib\SEND_AGAIN);
} catch (Netlib\Error $error) {
    fwrite(STDERR, $error->report() . "\n");
    exit(1);
}
