<?php

// The steps of bindings/scenario.md.
//
// usage: scenario.php SERVER CERTIFICATES TAG [STEP…]

declare(strict_types=1);

use Netlib\{Addresses, Attempts, Body, Connect, ConnectOptions, Error, Headers, Limit, Request, Response, Retry};
use Netlib\{RetryOptions, Stream, Timeout, TlsContext, TlsOptions, Url};

const PACKAGE = __DIR__ . '/../../target/bindings/php';
require PACKAGE . '/autoload.php';

[, $server, $certificates, $tag] = $argv;
define('SERVER', $server);
define('CERTIFICATES', $certificates);
define('TAG', $tag);
define('PORTS', parse_ini_file("$server/ports"));

final class Interrupted extends Exception
{
}

function url_of(string $port, string $path, string $host = 'localhost', string $tag = TAG): Url
{
    $scheme = in_array($port, ['http', 'mute'], true) ? 'http' : 'https';
    return Netlib\parse_url_strict("$scheme://$host:" . PORTS[$port] . "$path?$tag");
}

function tls_options(): TlsOptions
{
    return (new TlsOptions())->addCaFile(SERVER . '/ca.pem');
}

/** Sends one request on a new connection, and returns the response with its body. */
function exchange(
    Request $request,
    string $method,
    Url $url,
    ?TlsContext $context = null,
    ?ConnectOptions $options = null,
    ?Limit $limit = null,
    ?Body $body = null,
): array {
    $stream = Netlib\connect($url, $context ?? new TlsContext(tls_options()), $options, $limit);
    $stream->sendAll($request->toWire());
    while ($body !== null && ($piece = $body->read(4)[0]) !== null) {
        $stream->sendAll($piece);
    }
    $response = $stream->response($method);
    return [$response, rtrim($stream->body($response), "\n")];
}

/** Gets a URL, and returns the status with the body. */
function get(
    string $port,
    string $path = '/hello',
    ?TlsContext $context = null,
    ?ConnectOptions $options = null,
    ?Limit $limit = null,
    string $host = 'localhost',
    string $tag = TAG,
): array {
    $url = url_of($port, $path, $host, $tag);
    $request = new Request('GET', $url, new Headers(['connection' => 'close']), Netlib\REQUEST_FORM_ORIGIN);
    [$response, $body] = exchange($request, 'GET', $url, $context, $options, $limit);
    return [$response->status(), $body];
}

function thousandths(array $seconds): string
{
    return implode(',', array_map(static fn (float $wait): string => sprintf('%.3f', $wait), $seconds)) ?: '-';
}

/** Repeats a request as the recommended Retry decides, without real waits. */
final class Download
{
    public array $waits = [];
    public int $number = 0;
    public ?Url $url = null;
    public ?int $status = null;
    public string $body = '';

    public function run(string $port, string $path, string $method = 'GET', array $fields = [], ?string $text = null): self
    {
        $retry = new Retry(RetryOptions::newRecommended()
            ->sleep(function (float $seconds): void {
                $this->waits[] = $seconds;
            })
            ->random(static fn (): float => 0.5));
        $source = $text === null ? null : Body::fromMemory($text);
        $start = $source === null ? 0 : Netlib\set_file_position($source, Netlib\POSITION_NONE);
        $context = new TlsContext(tls_options());
        $headers = new Headers(['connection' => 'close'] + $fields);
        $attempts = new Attempts($retry, $method, url_of($port, $path), $headers, $source !== null);
        do {
            $this->number++;
            $this->url = $attempts->url();
            try {
                if ($source !== null) {
                    Netlib\rewind_body($source, $start);
                }
                $request = $attempts->request(Netlib\REQUEST_FORM_ORIGIN);
                $sent = $attempts->sendsBody() ? $source : null;
                [$response, $this->body] = exchange($request, $attempts->method(), $this->url, $context, body: $sent);
                $this->status = $response->status();
                $status = $attempts->next($response);
            } catch (Error $error) {
                $status = $attempts->next(null, $error);
            }
        } while ($status === Netlib\SEND_AGAIN);
        return $this;
    }

    public function describe(?string $line = null): string
    {
        $line ??= strtok($this->body, "\n");
        return "$this->status $this->number " . thousandths($this->waits) . " $line";
    }
}

function error_of(callable $call): Error
{
    try {
        $call();
    } catch (Error $error) {
        return $error;
    }
    throw new LogicException('the call succeeded');
}

function failed_download(string $path): string
{
    $done = new Download();
    $error = error_of(static fn () => $done->run('https', $path));
    $messages = array_map(static fn (Error $error) => $error->getMessage(), [$error, ...$error->causes]);
    return "{$error->name()} $done->number " . thousandths($done->waits) . ' ' . implode('|', $messages);
}

function described(Error $error): string
{
    $advice = explode(':', $error->advice ?? '-')[0];
    return $error->name() . ' ' . count($error->causes) . " {$error->getMessage()}|$advice";
}

function handshake_error(string $port, TlsOptions $options): string
{
    return described(error_of(static fn () => Netlib\connect(url_of($port, '/'), new TlsContext($options))));
}

/** Yields the descriptor and the events for which the download waits; returns the status. */
function get_without_waiting(string $path): Generator
{
    $url = url_of('http', $path);
    $connect = new Connect($url->host(), $url->port());
    while (true) {
        [$fd, $status] = $connect->step();
        if ($status === Netlib\OK) {
            break;
        }
        yield $connect->waitFd(0) => $connect->waitEvents(0);
    }
    $stream = Stream::newFd($fd);
    $stream->setBlocking(false);
    $request = new Request('GET', $url, new Headers(['connection' => 'close']), Netlib\REQUEST_FORM_ORIGIN);
    for ($wire = $request->toWire(); $wire !== ''; $wire = substr($wire, $written)) {
        [$written, $status] = $stream->write($wire);
        if ($status !== Netlib\OK) {
            yield $fd => POLLOUT;
        }
    }
    while (true) {
        [$response, $status] = $stream->readResponse('GET');
        if ($status === Netlib\OK) {
            return $response->status();
        }
        yield $fd => POLLIN;
    }
}
const POLLIN = 1;
const POLLOUT = 4;

/** Sends SIGINT to this process after 0.1 s. */
function interrupt_soon(): void
{
    exec('(sleep 0.1; kill -INT ' . getmypid() . ') >/dev/null 2>&1 &');
}

$steps = [
    'version' => static fn () => implode('.', array_slice(explode('.', Netlib\version()), 0, 2)),
    'version-refused' => static function () {
        try {
            Netlib\Runtime::load('0.99.0', PACKAGE);
        } catch (RuntimeException $error) {
            $namesBoth = str_contains($error->getMessage(), '0.99.0') && str_contains($error->getMessage(), Netlib\version());
            return $namesBoth ? 'refused' : $error->getMessage();
        }
        return 'loaded';
    },
    'url-parse' => static function () {
        $url = Netlib\parse_url('HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f');
        $parts = [$url->scheme(), $url->auth(), $url->host(), $url->port(), $url->path(), $url->query(), $url->fragment(), $url];
        return implode('|', $parts);
    },
    'url-resolve' => static function () {
        $base = Netlib\parse_url('http://a/b/c/d;p?q');
        return implode(' ', array_map($base->resolve(...), ['g', '../g', '//g', '?y']));
    },
    'url-error' => static function () {
        $error = error_of(static fn () => Netlib\parse_url_strict('http://exa mple.com/'));
        return "{$error->name()} $error->offset {$error->getMessage()}";
    },
    'url-nul' => static function () {
        $error = error_of(static fn () => Netlib\parse_url("http://a.example\0.b/"));
        return "{$error->name()} $error->offset {$error->getMessage()}";
    },
    'host-nul' => static function () {
        try {
            Netlib\create_connection("127.0.0.1\0.b", (int) PORTS['http']);
        } catch (ValueError) {
            return 'refused';
        }
        return 'connected';
    },
    'truth-values' => static function () {
        $url = Netlib\parse_url('https://example.com:8443/');
        $retry = new Retry((new RetryOptions())->raiseOnStatus(false)->raiseOnRedirect(true));
        $values = [
            $url->sameOrigin(Netlib\parse_url('https://example.com:8443/x')),
            $url->sameOrigin(Netlib\parse_url('https://example.com/')),
            $retry->raiseOnStatus(),
            $retry->raiseOnRedirect(),
        ];
        return implode(' ', array_map(static fn ($value) => var_export($value, true), $values));
    },
    'retry-reset' => static fn () => (new Download())->run('https', '/reset-after-head')->describe(),
    'retry-after' => static fn () => (new Download())->run('https', '/busy-once')->describe(),
    'retry-redirect' => static function () {
        $fields = ['authorization' => 'Basic dTpw', 'x-one' => '1'];
        $done = (new Download())->run('https', '/redirect-other-origin', fields: $fields);
        preg_match_all('/^([^:\s]+): *(.*?)\r?$/m', $done->body, $found);
        $received = array_combine(array_map('strtolower', $found[1]), $found[2]);
        $header = static fn (string $name): string => "$name=" . ($received[$name] ?? 'absent');
        return $done->describe($done->url->path() . ' ' . $header('authorization') . ' ' . $header('x-one'));
    },
    'retry-exhausted' => static fn () => failed_download('/hang-up'),
    'retry-stopped' => static fn () => failed_download('/come-back-tomorrow'),
    'body-again' => static function () {
        $done = (new Download())->run('https', '/reset-after-request', 'PUT', ['content-length' => '10'], '0123456789');
        $lines = explode("\n", $done->body);
        return $done->describe(end($lines));
    },
    'tls-get' => static fn () => (new Download())->run('https', '/hello')->describe(),
    'tls-wrong-name' => static fn () => handshake_error('wronghost', tls_options()),
    'tls-expired' => static fn () => handshake_error('expired', tls_options()->wallClock(static fn () => 2000000000.0)),
    'tls-untrusted' => static fn () => handshake_error('untrusted', tls_options()),
    'tls-client' => static function () {
        $options = tls_options()->identityFiles(CERTIFICATES . '/client.pem', CERTIFICATES . '/client.key');
        return implode(' ', get('clients', context: new TlsContext($options)));
    },
    'tls-client-missing' => static fn () => described(error_of(static fn () => get('clients'))),
    'tls-fingerprint' => static function () {
        $certificate = Netlib\connect(url_of('https', '/'), new TlsContext(tls_options()))->peerCertificate(0);
        Netlib\assert_fingerprint($certificate, trim(file_get_contents(SERVER . '/sha256')));
        $error = error_of(static fn () => Netlib\assert_fingerprint($certificate, str_repeat('0', 64)));
        return "true {$error->name()}";
    },
    'tls-pin' => static function () {
        $context = new TlsContext(tls_options()->addPin('sha256//' . str_repeat('A', 43) . '='));
        return error_of(static fn () => Netlib\connect(url_of('https', '/'), $context))->name();
    },
    'fifty' => static function () {
        $poll = FFI::cdef('struct pollfd { int fd; short events; short revents; }; int poll(struct pollfd *, unsigned long, int);');
        $running = array_map(static fn () => get_without_waiting('/when-fifty-ask'), range(1, 50));
        $succeeded = 0;
        while ($running !== []) {
            $fds = $poll->new('struct pollfd[50]');
            foreach (array_values($running) as $at => $download) {
                $fds[$at]->fd = $download->key();
                $fds[$at]->events = $download->current();
            }
            $poll->poll($fds, count($running), 10000);
            foreach ($running as $at => $download) {
                $download->next();
                if (!$download->valid()) {
                    $succeeded += $download->getReturn() === 200 ? 1 : 0;
                    unset($running[$at]);
                }
            }
        }
        return (string) $succeeded;
    },
    'deadline' => static fn () => error_of(static fn () => get('mute', '/', limit: new Limit(0.05)))->name(),
    'cancel' => static function () {
        // PHP has no threads. A signal handler runs while netlib waits.
        $limit = new Limit(30);
        pcntl_signal(SIGINT, static fn () => $limit->cancel());
        interrupt_soon();
        return error_of(static fn () => get('mute', '/', limit: $limit))->name();
    },
    'callback-clock' => static function () {
        $now = 100.0;
        $timeout = new Timeout(10, null, null);
        $timeout->setClock(static function () use (&$now): float {
            return $now;
        });
        $timeout->startConnect();
        $now = 103.0;
        return sprintf('%.3f', $timeout->readTimeout());
    },
    'callback-resolve' => static function () {
        $hosts = [];
        $resolve = static function (string $host, int $port, float $seconds, Addresses $addresses) use (&$hosts): void {
            $hosts[] = $host;
            $addresses->add(pack('SnC4x8', 2, $port, 127, 0, 0, 1)); // a sockaddr_in of AF_INET
        };
        $options = (new ConnectOptions())->resolveCallback($resolve);
        $response = implode(' ', get('http', options: $options, host: 'a.test'));
        return "$hosts[0] $response";
    },
    'callback-address' => static function () {
        $got = [];
        $options = (new ConnectOptions())->addressCallback(static function (string $address, int $classes) use (&$got): int {
            $got[] = $classes;
            return Netlib\VERDICT_REFUSE;
        });
        $error = error_of(static fn () => get('https', options: $options, host: '127.0.0.1'));
        return "{$error->name()} $got[0]";
    },
    'callback-raises' => static function () {
        $mine = new DomainException('not this address');
        $options = (new ConnectOptions())->addressCallback(static fn () => throw $mine);
        try {
            get('http', options: $options, tag: TAG . '-refused');
        } catch (DomainException $error) {
            $same = $error === $mine ? 'same' : 'another';
        }
        return "$same " . substr_count((string) @file_get_contents(SERVER . '/requests'), TAG . '-refused');
    },
    'callback-collected' => static function () {
        $slept = new ArrayObject();
        $make = static fn () => new Retry(RetryOptions::newRecommended()->sleep(static fn ($seconds) => $slept->append($seconds)));
        $retry = $make();
        gc_collect_cycles();
        $response = new Response('GET', 503, new Headers(['retry-after' => '1']));
        $retry->decide('GET', Netlib\parse_url('http://localhost/'), $response)->sleep();
        return thousandths($slept->getArrayCopy());
    },
    'key-log' => static function () {
        $file = tempnam(sys_get_temp_dir(), 'keys');
        get('https', context: new TlsContext(tls_options()->keylogFile($file)));
        $word = strtok(file_get_contents($file), ' ');
        unlink($file);
        return $word;
    },
    'user-data' => static function () {
        $mine = new DomainException("the application's own failure");
        $failure = Netlib\make_error(Netlib\IO, 'the exchange failed', $mine);
        $retry = new Retry((new RetryOptions())->total(0));
        $raised = error_of(static fn () => $retry->decide('GET', Netlib\parse_url('http://localhost/'), null, $failure));
        return $raised->userData() === $mine ? 'same' : $raised->getMessage();
    },
    'collected' => static function () {
        $resident = static fn (): int => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096;
        $before = $resident();
        for ($number = 0; $number < 100000; $number++) {
            Netlib\parse_url("http://localhost/$number");
        }
        $grown = $resident() - $before;
        return $grown < 32 << 20 ? 'bounded' : "$grown bytes";
    },
    'fork' => static function () {
        $stream = Netlib\connect(url_of('http', '/hello'));
        [$reader, $writer] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        $child = pcntl_fork();
        if ($child === 0) {
            $error = error_of(static fn () => $stream->read(10));
            fwrite($writer, Netlib\parse_url('http://hello/')->host() . " {$error->name()}");
            fflush($writer);
            posix_kill(getmypid(), SIGKILL); // without the destructors and the buffered output of the parent
        }
        fclose($writer);
        $result = stream_get_contents($reader);
        pcntl_waitpid($child, $status);
        return $result;
    },
    'interrupt' => static function () {
        pcntl_signal(SIGINT, static fn () => throw new Interrupted());
        interrupt_soon();
        $start = microtime(true);
        try {
            get('mute', '/', limit: new Limit(30));
        } catch (Interrupted) {
            $seconds = microtime(true) - $start;
            return $seconds < 1 ? 'interrupted' : "after $seconds s";
        }
        return 'not interrupted';
    },
];

foreach (array_slice($argv, 4) ?: array_keys($steps) as $name) {
    try {
        $result = $steps[$name]();
    } catch (Throwable $error) {
        $result = get_class($error) . ": {$error->getMessage()} at {$error->getFile()}:{$error->getLine()}";
    }
    echo "$name\t", str_replace("\n", ' ', $result), "\n";
}
