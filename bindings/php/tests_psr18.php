<?php

// Tests of Psr18Client with two implementations of PSR-7, PHP's web server, and a server that sends any bytes.

declare(strict_types=1);

require __DIR__ . '/../../target/bindings/php/autoload.php';
require __DIR__ . '/testing.php';
foreach (['Psr/Http/Client', 'GuzzleHttp/Psr7', 'Nyholm/Psr7'] as $package) {
    require "/usr/share/php/$package/autoload.php";
}

use Netlib\{Psr18Client, Psr18Exception, Psr18NetworkException, Psr18RequestException, RetryOptions};
use Psr\Http\Client\{ClientExceptionInterface, NetworkExceptionInterface, RequestExceptionInterface};
use Psr\Http\Message\ResponseInterface;

/** Starts PHP's web server on a free port; returns the process, its stderr and its address. */
function start_server(string $counters): array
{
    $command = [PHP_BINARY, '-d', 'expose_php=0', '-S', '127.0.0.1:0', __DIR__ . '/psr18-server.php'];
    $process = proc_open($command, [2 => ['pipe', 'w']], $pipes, null, ['COUNTERS' => $counters]);
    while (($line = fgets($pipes[2])) !== false) {
        if (preg_match('#\((http://[\d.:]+)\) started#', $line, $found)) {
            return [$process, $pipes[2], $found[1]];
        }
    }
    throw new RuntimeException("PHP's web server has not started");
}

/** Starts psr18-raw-server.php; returns the process and the address. */
function start_raw_server(): array
{
    $process = proc_open([PHP_BINARY, __DIR__ . '/psr18-raw-server.php'], [1 => ['pipe', 'w']], $pipes);
    return [$process, 'http://' . trim(fgets($pipes[1]) ?: throw new RuntimeException('the server has not started'))];
}

$counters = tempnam(sys_get_temp_dir(), 'netlib');
unlink($counters);
mkdir($counters);
[$process, $log, $server] = start_server($counters);
[$rawProcess, $rawServer] = start_raw_server();
$factories = ['guzzle' => new GuzzleHttp\Psr7\HttpFactory(), 'nyholm' => new Nyholm\Psr7\Factory\Psr17Factory()];
$tests = [];
foreach ($factories as $name => $factory) {
    $client = new Psr18Client($factory, $factory, seconds: 20);
    $request = static function (string $method, string $path, string $body = '') use ($factory, $server) {
        $uri = str_starts_with($path, '/') ? $server . $path : $path;
        return $factory->createRequest($method, $uri)->withBody($factory->createStream($body));
    };
    $send = static fn (string $method, string $path, string $body = ''): ResponseInterface
        => $client->sendRequest($request($method, $path, $body));
    $answer = static fn (ResponseInterface $response): array => json_decode((string) $response->getBody(), true);
    $answered = static fn (string $bytes, string $method = 'GET', string $body = '')
        => $request($method, "$rawServer/?answer=" . rawurlencode($bytes), $body);
    // The bytes of the last request.
    $lastOnWire = static fn (): string => array_slice($answer($send('GET', "$rawServer/requests")), -1)[0];
    $tests += [
        "$name: a_response_has_its_status_headers_and_body" => static function () use ($send, $answer, $name) {
            $response = $send('GET', "/echo?$name");
            equal([$response->getStatusCode(), $response->getReasonPhrase()], [200, 'OK']);
            equal([$response->getProtocolVersion(), $response->getHeader('X-Two')], ['1.1', ['1', '2']]);
            equal([$answer($response)['target'], $answer($response)['method']], ["/echo?$name", 'GET']);
        },
        "$name: the_request_is_sent_as_it_is" => static function () use ($request, $client, $answer) {
            $sent = $request('POST', '/echo', 'a body')->withHeader('X-Test', ['1', '2'])->withHeader('Host', 'a.test');
            $got = $answer($client->sendRequest($sent));
            equal($got['body'], 'a body');
            ksort($got['fields']);
            $fields = ['Connection' => 'close', 'Content-Length' => '6', 'Host' => 'a.test', 'X-Test' => '1, 2'];
            equal($got['fields'], $fields);
        },
        "$name: the_host_of_a_request_is_that_of_its_uri" => static function () use ($send, $answer, $server) {
            equal("http://{$answer($send('GET', '/echo'))['fields']['Host']}", $server);
        },
        "$name: a_response_with_an_error_status_is_returned" => static function () use ($send) {
            foreach ([404, 500, 429] as $status) {
                equal($send('POST', "/status/$status", 'x')->getStatusCode(), $status);
            }
        },
        "$name: an_exhausted_policy_returns_the_last_response" => static function () use ($factory, $request, $name) {
            $retry = RetryOptions::newRecommended()->total(2)->sleep(static fn () => null);
            $client = new Psr18Client($factory, $factory, $retry);
            $response = $client->sendRequest($request('GET', "/status/503?$name"));
            equal([$response->getStatusCode(), json_decode((string) $response->getBody(), true)['count']], [503, 3]);
        },
        "$name: a_request_with_a_body_is_sent_again" => static function () use ($send, $answer, $name) {
            $got = $answer($send('PUT', "/busy-once?$name", 'a body'));
            equal([$got['count'], $got['body']], [2, 'a body']);
        },
        "$name: a_redirect_is_followed" => static function () use ($send, $answer, $name) {
            $rows = [[307, 'POST', 'POST', 'a body'], [303, 'POST', 'GET', '']];
            foreach ($rows as [$status, $method, $wanted, $body]) {
                $got = $answer($send($method, "/redirect?status=$status", 'a body'));
                equal([$got['method'], $got['target'], $got['body']], [$wanted, '/echo?from=redirect', $body]);
            }
        },
        "$name: the_host_is_that_of_the_redirect" => static function () use ($factory, $request, $answer, $server) {
            $other = str_replace('127.0.0.1', 'localhost', $server);
            $client = new Psr18Client($factory, $factory, new RetryOptions()); // these settings keep Host
            $got = $answer($client->sendRequest($request('GET', '/redirect-to?to=' . urlencode("$other/echo"))));
            equal("http://{$got['fields']['Host']}", $other);
        },
        "$name: the_body_is_not_on_the_wire_after_a_303" => static function () use ($answered, $client, $lastOnWire) {
            $client->sendRequest($answered("HTTP/1.1 303 X\r\nLocation: /next\r\n\r\n", 'POST', 'a body'));
            [$head, $rest] = explode("\r\n\r\n", $lastOnWire());
            equal([strtok($head, "\r\n"), $rest], ['GET /next HTTP/1.1', '']);
        },
        "$name: no_policy_keeps_credentials_on_a_redirect_to_another_origin" => static function () use (
            $factory,
            $answered,
            $lastOnWire,
            $rawServer,
        ) {
            $other = str_replace('127.0.0.1', 'localhost', $rawServer);
            $secrets = ['authorization', 'cookie', 'proxy-authorization', 'x-api-key'];
            $kept = ['Host', 'Cookie', 'X-Test'];
            $rows = [
                // The policy, the target of the redirect, and the header fields that the target gets.
                ['recommended', null, "$other/next", ['x-test', 'x-own']],
                ["urllib3's defaults", new RetryOptions(), "$other/next", ['x-test', 'x-own']],
                ['a list', (new RetryOptions())->removeHeadersOnRedirect(['X-Own']), "$other/next", ['x-test']],
                ['an empty list', (new RetryOptions())->removeHeadersOnRedirect([]), "$other/next", ['x-test', 'x-own']],
                ['kept headers', (new RetryOptions())->keepHeadersOnRedirect($kept), "$other/next", ['x-test']],
                ['the same origin', new RetryOptions(), '/next', ['host', 'x-test', 'x-own', ...$secrets]],
            ];
            foreach ($rows as [$row, $retry, $to, $wanted]) {
                $sent = $answered("HTTP/1.1 307 X\r\nLocation: $to\r\n\r\n");
                foreach (['Host', 'X-Test', 'X-Own', ...$secrets] as $field) {
                    $sent = $sent->withHeader($field, 'mine.test');
                }
                (new Psr18Client($factory, $factory, $retry, seconds: 20))->sendRequest($sent);
                $onWire = $lastOnWire();
                preg_match_all('#^([^:\r\n]+): mine\.test\r$#m', $onWire, $found);
                $got = array_map(strtolower(...), $found[1]);
                sort($got);
                sort($wanted);
                equal([$row, strtok($onWire, "\r\n"), $got], [$row, 'GET /next HTTP/1.1', $wanted]);
                equal([$row, substr_count(strtolower($onWire), "\r\nhost: ")], [$row, 1]);
            }
        },
        "$name: a_body_that_cannot_be_rewound_is_sent_again" => static function () use ($factory, $client, $request, $answer) {
            [$reader, $writer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
            fwrite($writer, 'from a socket');
            fclose($writer);
            $sent = $request('PUT', "/busy-once?socket-" . get_class($factory))->withBody($factory->createStreamFromResource($reader));
            $got = $answer($client->sendRequest($sent));
            equal([$got['count'], $got['body']], [2, 'from a socket']);
        },
        "$name: a_large_body_is_complete_and_can_be_read_again" => static function () use ($send) {
            $body = $send('GET', '/large')->getBody();
            equal([$body->getSize(), md5($body->getContents())], [3000000, md5(str_repeat('0123456789', 300000))]);
            $body->rewind();
            equal($body->read(4), '0123');
        },
        "$name: a_body_above_the_maximum_is_a_network_exception" => static function () use ($factory, $answered) {
            $default = 64 * 1024 * 1024;
            $ok = "HTTP/1.1 200 OK\r\n";
            $rows = [
                // The arguments of the client, the response, and the body or the status of the error.
                [['maxBody' => 10], "{$ok}Content-Length: 10\r\n\r\n0123456789", '0123456789'],
                [['maxBody' => 10], "{$ok}Content-Length: 11\r\n\r\n", Netlib\TOO_MUCH_DATA],
                [['maxBody' => 10], "$ok\r\n0123456789", '0123456789'],
                [['maxBody' => 10], "$ok\r\n0123456789a", Netlib\TOO_MUCH_DATA],
                [['maxBody' => 10], "{$ok}Transfer-Encoding: chunked\r\n\r\n9\r\n012345678\r\n2\r\nab\r\n0\r\n\r\n",
                    Netlib\TOO_MUCH_DATA],
                [['maxBody' => 0], "$ok\r\n", ''],
                [[], "{$ok}Content-Length: " . ($default + 1) . "\r\n\r\n", Netlib\TOO_MUCH_DATA],
                [[], "{$ok}Content-Length: $default\r\n\r\n", Netlib\INCOMPLETE_READ],
                [['maxBody' => null], "{$ok}Content-Length: " . ($default + 1) . "\r\n\r\n", Netlib\INCOMPLETE_READ],
            ];
            foreach ($rows as $row) {
                [$arguments, $bytes, $wanted] = $row;
                $sent = $answered($bytes);
                try {
                    $client = new Psr18Client($factory, $factory, ...$arguments, seconds: 20);
                    $got = (string) $client->sendRequest($sent)->getBody();
                } catch (Psr18NetworkException $error) {
                    $got = $error->getCode();
                }
                equal([$row, $got], [$row, $wanted]);
            }
            $client = new Psr18Client($factory, $factory, maxBody: 10, seconds: 20);
            equal($client->sendRequest($answered("{$ok}Content-Length: 11\r\n\r\n", 'HEAD'))->getStatusCode(), 200);
            $error = thrown(static fn () => new Psr18Client($factory, $factory, maxBody: -1));
            equal([get_class($error), $error->getMessage()], [ValueError::class, '$maxBody must be 0 or more, or null']);
        },
        "$name: a_response_that_the_factory_refuses_is_a_network_exception" => static function () use ($answered, $client, $name) {
            $refused = [Psr18NetworkException::class, InvalidArgumentException::class, 0];
            $rows = [
                // The response, and its status, or the exception, the previous exception and the code.
                ["HTTP/1.1 999 X\r\n\r\n", $name === 'guzzle' ? $refused : 999],
                ["HTTP/1.1 200 OK\r\nX-A: a\x01b\r\n\r\n", $refused],
                ["HTTP/1.1 200 OK\r\nX-A: a\x7fb\r\n\r\n", $refused],
                ["HTTP/1.1 200 OK\r\nX-A: a\x80\xffb\r\n\r\n", 200],
                ["HTTP/1.1 200 a\x01b\r\n\r\n", 200],
                ["HTTP/1.1 200 OK\r\n12: a\r\n\r\n", 200],
            ];
            foreach ($rows as [$bytes, $wanted]) {
                $sent = $answered($bytes);
                try {
                    $got = $client->sendRequest($sent)->getStatusCode();
                } catch (Throwable $error) {
                    $got = [get_class($error), get_class($error->getPrevious() ?? $error), $error->getCode()];
                    equal([$bytes, $error instanceof Psr18Exception && $error->getRequest() === $sent], [$bytes, true]);
                }
                equal([$bytes, $got], [$bytes, $wanted]);
            }
        },
        "$name: a_response_to_head_has_no_body" => static function () use ($send) {
            $response = $send('HEAD', '/echo');
            equal([$response->getStatusCode(), (string) $response->getBody()], [200, '']);
        },
        "$name: an_invalid_request_is_a_request_exception" => static function () use ($request, $client) {
            foreach (['/relative', 'ftp://a/', 'http://a/%00'] as $uri) {
                $sent = $request('GET', 'http://a/')->withUri($request('GET', 'http://a/')->getUri()->withScheme('')
                    ->withHost('')->withPath('/relative'));
                $sent = $uri === '/relative' ? $sent : $request('GET', $uri);
                $error = thrown(static fn () => $client->sendRequest($sent));
                equal([$uri, get_class($error)], [$uri, Psr18RequestException::class]);
                equal([$error instanceof RequestExceptionInterface, $error->getRequest()], [true, $sent]);
            }
        },
        "$name: a_refused_connection_is_a_network_exception" => static function () use ($factory, $request) {
            $closed = stream_socket_server('tcp://127.0.0.1:0');
            $address = stream_socket_get_name($closed, false);
            fclose($closed);
            $retry = RetryOptions::newRecommended()->sleep(static fn () => null);
            $sent = $request('GET', "http://$address/");
            $client = new Psr18Client($factory, $factory, $retry);
            $error = thrown(static fn () => $client->sendRequest($sent));
            equal([get_class($error), $error->getRequest()], [Psr18NetworkException::class, $sent]);
            equal($error instanceof NetworkExceptionInterface, true);
            equal($error->getPrevious()->name(), 'NETLIB_MAX_RETRY');
        },
        "$name: a_limit_is_a_network_exception" => static function () use ($factory, $request) {
            $mute = stream_socket_server('tcp://127.0.0.1:0');
            $client = new Psr18Client($factory, $factory, seconds: 0.05);
            $sent = $request('GET', 'http://' . stream_socket_get_name($mute, false) . '/');
            $error = thrown(static fn () => $client->sendRequest($sent));
            equal([get_class($error), $error->getCode()], [Psr18NetworkException::class, Netlib\DEADLINE_EXCEEDED]);
        },
        "$name: a_refused_redirect_is_a_client_exception" => static function () use ($send) {
            foreach (['ftp://a/', 'http://['] as $to) {
                $error = thrown(static fn () => $send('GET', '/redirect-to?to=' . urlencode($to)));
                equal([$to, get_class($error)], [$to, Psr18Exception::class]);
                equal($error instanceof ClientExceptionInterface, true);
            }
        },
    ];
}
try {
    $failed = run_tests($tests);
} finally {
    proc_terminate($process);
    proc_terminate($rawProcess);
    array_map(unlink(...), glob("$counters/*"));
    rmdir($counters);
}
exit($failed === 0 ? 0 : 1);
