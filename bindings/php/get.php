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
    foreach (Netlib\attempts('GET', $argv[1], ['connection' => 'close'], limit: $limit) as $attempt) {
        try {
            $stream = Netlib\connect($attempt->url, $context, $options, $limit);
            $stream->sendAll($attempt->request()->toWire());
            $response = $stream->response($attempt->method);
            if ($attempt->accept($response)) {
                foreach ($stream->pieces($response) as $piece) {
                    echo $piece;
                }
            }
        } catch (Netlib\Error $error) {
            $attempt->failed($error); // throws the error if it is not retried
        }
    }
} catch (Netlib\Error $error) {
    fwrite(STDERR, $error->report() . "\n");
    exit(1);
}
