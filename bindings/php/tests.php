<?php

// Tests of the features that only the binding for PHP has.

declare(strict_types=1);

const BUILT = __DIR__ . '/../../target/bindings/php';
require BUILT . '/autoload.php';
require __DIR__ . '/testing.php';

use Netlib\{Attempts, Body, Error, Headers, HeadersOptions, Response, Retry, RetryOptions, Runtime, Timeout};
use Netlib\{TlsContext, TlsOptions};

/** True if a name in a comment or in the text of an error exists: "Url::host", "new Url", "parse_url" or "ACTION_*". */
function exists(string $name): bool
{
    if (str_contains($name, '*')) {
        $names = array_keys(get_defined_constants(true)['user']);
        return preg_grep('/^Netlib.' . str_replace('*', '\w+', $name) . '$/i', $names) !== [];
    }
    $class = 'Netlib\\' . preg_replace('/^new |::.*/', '', $name);
    if (str_contains($name, '::')) {
        return method_exists($class, substr($name, strpos($name, '::') + 2));
    }
    return class_exists($class) || function_exists($class) || defined($class);
}

/** The attempts of a request to http://a/x with a body. */
function attempts_of(?RetryOptions $options = null): Attempts
{
    $options = ($options ?? RetryOptions::newRecommended())->allowAnyMethod()->jitterKind(Netlib\JITTER_NONE);
    $headers = new Headers(['authorization' => 'secret', 'content-type' => 'text/plain']);
    return new Attempts(new Retry($options), 'POST', Netlib\parse_url('http://a/x'), $headers, true);
}

function response_of(int $status, array $fields = []): Response
{
    return new Response('POST', $status, new Headers($fields));
}

/** Makes attempts until the request ends. `$exchange` returns a response, or throws. */
function make_attempts(Attempts $attempts, callable $exchange): void
{
    do {
        try {
            $status = $attempts->next($exchange());
        } catch (Error $error) {
            $status = $attempts->next(null, $error);
        }
    } while ($status === Netlib\SEND_AGAIN);
}

$tests = [
    'a_closed_object_is_refused' => static function () {
        $url = Netlib\parse_url('http://a/');
        $url->close();
        $url->close();
        equal(thrown(static fn () => $url->host())->getMessage(), 'the object of the class Netlib\Url is closed');
    },
    'a_number_is_refused_as_a_truth_value' => static function () {
        equal(get_class(thrown(static fn () => (new RetryOptions())->raiseOnStatus(0))), TypeError::class);
    },
    'a_clone_expression_is_refused' => static function () {
        $url = Netlib\parse_url('http://a/');
        equal(get_class(thrown(static fn () => clone $url)), \Error::class);
        equal((string) $url->clone(), 'http://a/');
    },
    'a_text_with_any_bytes_is_returned_unchanged' => static function () {
        $encoded = Netlib\percent_encode(Netlib\URL_COMPONENT_PATH_SEGMENT, "\0\xff\n")->data();
        equal(Netlib\percent_decode(Netlib\URL_COMPONENT_PATH_SEGMENT, $encoded)->data(), "\0\xff\n");
    },
    'an_absent_query_is_null_and_an_empty_query_is_a_string' => static function () {
        equal(Netlib\parse_url('http://a/')->query(), null);
        equal(Netlib\parse_url('http://a/?')->query(), '');
    },
    'a_setter_throws_the_error_of_a_refused_value' => static function () {
        $error = thrown(static fn () => (new HeadersOptions())->addHeader('a b', 'c'));
        equal([get_class($error), $error->name()], [Netlib\ArgumentError::class, 'NETLIB_INVALID_HEADER']);
    },
    'a_name_of_c_has_an_existing_name_in_php' => static function () {
        foreach (require BUILT . '/src/names.php' as $c => $name) {
            if (str_ends_with($c, '_fn') || in_array($name, ['int', 'array', 'string'], true)) {
                continue;
            }
            equal([$c, exists($name)], [$c, true]);
        }
    },
    'comments_name_existing_functions_and_no_c' => static function () {
        foreach (glob(BUILT . '/src/*.php') as $file) {
            foreach (array_filter(token_get_all(file_get_contents($file)), is_array(...)) as [$kind, $text]) {
                if ($kind !== T_DOC_COMMENT) {
                    continue;
                }
                equal(preg_match('/^.*(?<!")\b(?:netlib_|NETLIB_|NULL\b).*$/m', $text, $found) ? $found[0] : null, null);
                preg_match_all('/`(new \w+|\w+::\w+|[a-z0-9]+_\w+(?<!_callback))`/', $text, $found);
                foreach ($found[1] as $name) {
                    equal([basename($file), $name, exists($name)], [basename($file), $name, true]);
                }
            }
        }
    },
    'a_method_has_its_parameters_result_and_errors_in_its_comment' => static function () {
        $comment = (new ReflectionMethod(Netlib\TlsOptions::class, 'addCaFile'))->getDocComment();
        foreach (['@param string $path ', '@return $this'] as $text) {
            equal([$text, str_contains($comment, $text)], [$text, true]);
        }
        $comment = (new ReflectionMethod(Attempts::class, 'request'))->getDocComment();
        equal(str_contains($comment, '@param int $form one of `REQUEST_FORM_*`: '), true);
        $comment = (new ReflectionMethod(TlsContext::class, 'trustKinds'))->getDocComment();
        equal(str_contains($comment, '@return int a sum of `TRUST_*`'), true);
        $comment = (new ReflectionMethod(Netlib\Stream::class, 'read'))->getDocComment();
        foreach (['@param int $buf ', '@return array{?string, int} ', '@throws Error ', 'Waits if '] as $text) {
            equal([$text, str_contains($comment, $text)], [$text, true]);
        }
    },
    'an_engine_without_a_session_returns_null' => static function () {
        equal(Netlib\TlsEngine::newClient(new TlsContext(), 'localhost')->takeSession(), null);
    },
    'the_advice_of_an_error_names_the_method_of_php' => static function () {
        $certificates = __DIR__ . '/../../tests/certs';
        $context = new TlsContext((new TlsOptions())->systemTrust(false)->addCaFile("$certificates/ca.pem"));
        $chain = file_get_contents("$certificates/self-signed.pem");
        $error = thrown(static fn () => $context->verifyChain($chain, Netlib\PURPOSE_SERVER_AUTH));
        equal($error->advice, 'to trust it: TlsOptions::addCaFile');
        equal(str_ends_with($error->report(), "advice: $error->advice"), true);
    },
    'the_message_of_a_refused_value_names_the_method_of_php' => static function () {
        $error = thrown(static fn () => (new TlsOptions())->ciphers('nonsense'));
        equal(strtok($error->getMessage(), ' '), 'TlsOptions::ciphers:');
    },
    'an_unknown_name_of_c_is_unchanged' => static function () {
        $error = Netlib\make_error(Netlib\IO, 'enum netlib_tls_version, netlib_unknown, netlib_parse_url');
        equal($error->getMessage(), 'TLS_VERSION_*, netlib_unknown, parse_url');
    },
    'a_part_of_a_url_is_complete_after_an_encoded_nul' => static function () {
        $url = Netlib\parse_url("http://u%00:p@a/\0x?\0y#\0z");
        $parts = [$url->auth(), $url->path(), $url->query(), $url->fragment(), $url->requestUri(), (string) $url];
        $text = 'http://u%00:p@a/%00x?%00y#%00z';
        equal($parts, ['u%00:p', '/%00x', '%00y', '%00z', '/%00x?%00y', $text]);
        equal(thrown(static fn () => $url->username())->name(), 'NETLIB_INVALID_URL');
    },
    'urls_are_equal_if_their_normalised_texts_are_equal' => static function () {
        $url = Netlib\parse_url('http://u@a/x');
        $rows = [['HTTP://u@A/y/../x', true], ['http://u@a/x?', false], ['http://a/x', false]];
        foreach ($rows as [$text, $wanted]) {
            equal([$text, $url->equals(Netlib\parse_url($text))], [$text, $wanted]);
        }
        equal($url->equals(null), false);
    },
    'a_url_is_shown_without_its_password' => static function () {
        $url = Netlib\parse_url('http://user:secret@a/?key=secret');
        $shown = print_r($url, true);
        equal([str_contains($shown, 'http://***@a/?key=***'), str_contains($shown, 'secret')], [true, false]);
        equal((string) $url, 'http://user:secret@a/?key=secret');
        $url->close();
        equal(str_contains(print_r($url, true), '[closed] => 1'), true);
    },
    'headers_and_queries_are_iterated_and_counted' => static function () {
        $rows = [
            'headers' => new Headers([['a', '1'], ['b', '2'], ['a', '3']]),
            'query' => Netlib\Query::parse('a=1&b=2&a=3', Netlib\QUERY_FORMAT_FORM),
        ];
        foreach ($rows as $name => $pairs) {
            $got = [];
            foreach ($pairs as $key => $value) {
                $got[] = "$key=$value";
            }
            equal([$name, count($pairs), $got], [$name, 3, ['a=1', 'b=2', 'a=3']]);
        }
    },
    'a_refused_clone_expression_frees_nothing' => static function () {
        $url = Netlib\parse_url('http://a/');
        for ($at = 0; $at < 100; $at++) {
            $message = thrown(static fn () => clone $url)->getMessage();
            equal($message, 'an object of the class Netlib\Url cannot be cloned by the expression "clone"');
        }
        equal((string) $url, 'http://a/');
    },
    'an_object_is_not_serialized' => static function () {
        $url = Netlib\parse_url('http://a/');
        $message = 'an object of the class Netlib\Url cannot be ';
        equal(thrown(static fn () => serialize($url))->getMessage(), $message . 'serialized');
        equal(thrown(static fn () => unserialize('O:10:"Netlib\Url":0:{}'))->getMessage(), $message . 'unserialized');
    },
    'a_constructor_that_is_called_again_frees_the_earlier_object' => static function () {
        $before = Runtime::heldCount();
        $body = new Body(static fn () => null);
        $body->__construct(static fn () => null);
        equal(Runtime::heldCount(), $before + 1);
        $body->close();
        equal(Runtime::heldCount(), $before);
    },
    'the_library_of_another_platform_is_refused' => static function () {
        $directory = tempnam(sys_get_temp_dir(), 'netlib');
        unlink($directory);
        mkdir($directory);
        file_put_contents("$directory/libnetlib.so.0.1", 'no library');
        $program = '[, $built, $directory] = $argv; require "$built/autoload.php"; '
            . 'Netlib\Runtime::load(Netlib\VERSION, $directory);';
        $command = array_map(escapeshellarg(...), [PHP_BINARY, '-d', 'ffi.preload=', '-r', $program, BUILT, $directory]);
        exec(implode(' ', $command) . ' 2>&1', $lines);
        array_map(unlink(...), glob("$directory/*"));
        rmdir($directory);
        $machine = php_uname('s') . ' ' . php_uname('m');
        $wanted = "netlib for PHP cannot load the library $directory/libnetlib.so.0.1 on $machine: ";
        equal([implode("\n", $lines), str_contains(implode("\n", $lines), $wanted)], [implode("\n", $lines), true]);
    },
    'a_preloaded_class_loads_the_library' => static function () {
        if (!extension_loaded('Zend OPcache')) {
            return;
        }
        $preload = tempnam(sys_get_temp_dir(), 'preload');
        file_put_contents($preload, '<?php foreach (["Handle", "Runtime"] as $name) {'
            . 'opcache_compile_file(' . var_export(BUILT, true) . ' . "/src/$name.php"); }');
        $program = 'echo class_exists("Netlib\Runtime", false) ? 1 : 0; require $argv[1] . "/autoload.php"; '
            . 'echo Netlib\parse_url("http://a/")->host();';
        $settings = ['opcache.enable_cli=1', "opcache.preload=$preload", 'opcache.preload_user=' . get_current_user()];
        $options = array_merge(...array_map(static fn ($setting) => ['-d', $setting], $settings));
        $command = array_map(escapeshellarg(...), [PHP_BINARY, ...$options, '-r', $program, BUILT]);
        $printed = shell_exec(implode(' ', $command) . ' 2>&1');
        unlink($preload);
        equal($printed, '1a');
    },
    'a_program_without_netlib_does_not_load_the_library' => static function () {
        $program = 'require $argv[1] . "/autoload.php"; echo class_exists("Netlib\Runtime", false) ? 1 : 0;';
        equal(shell_exec(implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, '-r', $program, BUILT]))), '0');
    },
    'an_object_that_a_callback_closes_is_freed_after_the_call' => static function () {
        $before = Runtime::heldCount();
        $stream = Netlib\Stream::newCallbacks(
            static function () use (&$stream): string {
                $stream->close();
                return 'abc';
            },
            static fn () => 0,
        );
        equal($stream->read(10), ['abc', Netlib\OK]);
        equal(Runtime::heldCount(), $before);
        equal(thrown(static fn () => $stream->read(10))->getMessage(), 'the object of the class Netlib\Stream is closed');
    },
    'a_secret_is_hidden_in_the_stack_trace' => static function () {
        $rows = [
            [Netlib\TlsOptions::class, 'identity', 'key', true],
            [Netlib\HeadersOptions::class, 'basicAuth', 'credentials', true],
            [Netlib\Url::class, '__construct', 'auth', true],
            [Netlib\Rate::class, 'take', 'key', false],
        ];
        foreach ($rows as [$class, $method, $parameter, $wanted]) {
            $got = (new ReflectionParameter([$class, $method], $parameter))->getAttributes('SensitiveParameter') !== [];
            equal([$class, $parameter, $got], [$class, $parameter, $wanted]);
        }
    },
    'send_all_fails_if_a_stream_that_does_not_block_takes_only_a_part' => static function () {
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $stream = Netlib\connect('http://' . stream_socket_get_name($server, false) . '/');
        $stream->setBlocking(false);
        $error = thrown(static fn () => $stream->sendAll(str_repeat('a', 16 << 20)));
        equal($error->getMessage(), 'a stream that does not block cannot finish this call');
        $stream->close();
    },
    'ctx_free_releases_the_callbacks_of_a_closed_object' => static function () {
        $before = Runtime::heldCount();
        $options = (new RetryOptions())->sleep(static fn () => null);
        $retry = new Retry($options);
        $options->close();
        equal(Runtime::heldCount(), $before + 1);
        $retry->close();
        equal(Runtime::heldCount(), $before);
    },
    'a_borrowed_object_keeps_its_lender_alive' => static function () {
        $headers = (new Response('GET', 200, new Headers(['a' => 'b'])))->headers();
        equal($headers->get('a'), 'b');
    },
    'a_borrowed_object_is_refused_after_its_lender_was_closed' => static function () {
        $response = new Response('GET', 200, new Headers(['a' => 'b']));
        $headers = $response->headers();
        $response->close();
        $message = thrown(static fn () => $headers->get('a'))->getMessage();
        equal($message, 'the object of the class Netlib\Response is closed');
    },
    'a_refused_argument_leaves_no_callback_held' => static function () {
        $context = new TlsContext((new TlsOptions())->systemTrust(false)->addCaFile(__DIR__ . '/../../tests/certs/ca.pem'));
        $context->close();
        $before = Runtime::heldCount();
        $none = static fn () => null;
        $message = thrown(static fn () => Netlib\tls_wrap_callbacks($context, 'a', $none, $none))->getMessage();
        equal($message, 'the object of the class Netlib\TlsContext is closed');
        equal(Runtime::heldCount(), $before);
    },
    'a_callback_that_returns_a_text_for_a_number_fails_the_call_with_a_type_error' => static function () {
        $timeout = new Timeout(10, null, null);
        $timeout->setClock(static fn () => 'noon');
        equal(get_class(thrown(static fn () => $timeout->startConnect())), TypeError::class);
    },
    'a_body_that_reads_through_a_callback_returns_its_pieces' => static function () {
        $pieces = ['ab', 'c'];
        $body = new Body(static function () use (&$pieces) {
            return array_shift($pieces);
        });
        equal([$body->read(10), $body->read(10)], [['ab', 0], ['c', 0]]);
        equal($body->read(10), [null, Netlib\END_OF_STREAM]);
    },
    'a_number_from_a_callback_that_reads_fails_the_call_with_a_type_error' => static function () {
        $body = new Body(static fn () => 3);
        equal(get_class(thrown(static fn () => $body->read(10))), TypeError::class);
    },
    'an_exception_in_a_callback_of_a_callback_is_thrown_by_the_outer_call' => static function () {
        $mine = new DomainException('inner');
        $inner = new Timeout(10, null, null);
        $inner->setClock(static fn () => throw $mine);
        $outer = new Timeout(10, null, null);
        $outer->setClock(static function () use ($inner): float {
            $inner->startConnect();
            return 1.0;
        });
        equal(thrown(static fn () => $outer->startConnect()), $mine);
    },
    'each_class_of_statuses_has_an_exception' => static function () {
        equal(get_class(Netlib\make_error(Netlib\CONNECT_TIMEOUT, 'late')), Netlib\TimeError::class);
        equal(get_class(Netlib\make_error(Netlib\MAX_RETRY, 'late')), Netlib\RetryError::class);
    },
    'a_callback_returns_a_result_and_two_numbers' => static function () {
        $words = [];
        $store = new Netlib\Store(static function (string $key, int $expected, int $desired) use (&$words): array {
            $word = $words[$key] ?? 0;
            if ($word !== $expected) {
                return [Netlib\SWAP_CHANGED, $word, 100.0];
            }
            $words[$key] = $desired;
            return [Netlib\SWAP_SWAPPED, 0, 100.0];
        }, 1);
        $options = (new Netlib\RateOptions())->limit(1, 2)->store($store, Netlib\UNAVAILABLE_CLOSED);
        $rate = new Netlib\Rate($options);
        $statuses = array_map(static fn () => $rate->take("a\0b", 1)[1], [1, 2, 3]);
        equal($statuses, [Netlib\OK, Netlib\OK, Netlib\RATE_LIMITED]);
        equal(array_keys($words), ["rate:a\0b"]);
        $mine = new RuntimeException('mine');
        $options->store(new Netlib\Store(static fn () => throw $mine, 1), Netlib\UNAVAILABLE_CLOSED);
        equal(thrown(static fn () => (new Netlib\Rate($options))->take('a', 1)), $mine);
    },
    'objects_of_the_attempts_are_valid_after_a_redirect' => static function () {
        $attempts = attempts_of(RetryOptions::newRecommended()->sleep(static fn () => null));
        equal($attempts->decision(), null);
        $attempts->next(response_of(503, ['retry-after' => '7']));
        [$url, $headers, $decision] = [$attempts->url(), $attempts->headers(), $attempts->decision()];
        equal($attempts->next(response_of(307, ['location' => 'http://b/y'])), Netlib\SEND_AGAIN);
        equal([(string) $attempts->url(), $attempts->headers()->get('authorization')], ['http://b/y', null]);
        equal($attempts->decision()->delay(), 0.0);
        $attempts->close();
        equal([(string) $url, $headers->get('authorization'), $decision->delay()], ['http://a/x', 'secret', 7.0]);
    },
    'the_attempt_after_a_303_sends_no_body' => static function () {
        $attempts = attempts_of();
        equal([$attempts->method(), $attempts->sendsBody()], ['POST', true]);
        equal($attempts->next(response_of(303, ['location' => '/y'])), Netlib\SEND_AGAIN);
        equal([$attempts->method(), $attempts->sendsBody()], ['GET', false]);
        equal($attempts->headers()->get('content-type'), null);
        $wire = $attempts->request(Netlib\REQUEST_FORM_ORIGIN)->toWire();
        equal(strtok($wire, "\r"), 'GET /y HTTP/1.1');
    },
    'the_error_that_ends_the_retries_is_not_counted_again' => static function () {
        [$count, $slept] = [0, []];
        $options = RetryOptions::newRecommended()->total(2);
        $options->sleep(static function (float $seconds) use (&$slept): void {
            $slept[] = $seconds;
        });
        $exchange = static function () use (&$count): Response {
            $count++;
            return response_of(503);
        };
        $error = thrown(static fn () => make_attempts(attempts_of($options), $exchange));
        equal([$error->name(), $error->causes[0]->name()], ['NETLIB_MAX_RETRY', 'NETLIB_RESPONSE_STATUS']);
        equal([$count, $slept], [3, [0.2]]); // there is no wait before the first retry
    },
    'an_error_is_retried_and_the_response_after_it_is_the_result' => static function () {
        $count = 0;
        $options = RetryOptions::newRecommended()->sleep(static fn () => null);
        make_attempts(attempts_of($options), static function () use (&$count): Response {
            return ++$count < 3 ? throw Netlib\make_error(Netlib\CONNECT_FAILED, 'refused') : response_of(200);
        });
        equal($count, 3);
    },
    'an_error_after_the_end_is_thrown_as_it_is' => static function () {
        $attempts = attempts_of();
        equal($attempts->next(response_of(200)), Netlib\OK);
        $failure = Netlib\make_error(Netlib\READ_TIMEOUT, 'the body is late', $attempts);
        for ($at = 0; $at < 2; $at++) {
            $error = thrown(static fn () => $attempts->next(null, $failure));
            equal([get_class($error), $error->getMessage()], [Netlib\TimeError::class, 'the body is late']);
            equal($error->userData(), $attempts);
        }
        equal(thrown(static fn () => $attempts->next(response_of(503)))->name(), 'NETLIB_CLOSED');
    },
    'an_exception_of_the_sleep_callback_ends_the_request' => static function () {
        $mine = new DomainException('mine');
        $attempts = attempts_of(RetryOptions::newRecommended()->sleep(static fn () => throw $mine));
        equal(thrown(static fn () => $attempts->next(response_of(503, ['retry-after' => '1']))), $mine);
        $failure = Netlib\make_error(Netlib\CONNECT_FAILED, 'refused');
        equal(thrown(static fn () => $attempts->next(null, $failure))->getMessage(), 'refused');
    },
    'the_program_of_the_readme_is_get_php' => static function () {
        preg_match('/```php\n(.*?)```/s', file_get_contents(__DIR__ . '/README.md'), $found);
        equal(str_contains(file_get_contents(__DIR__ . '/get.php'), $found[1]), true);
    },
];

exit(run_tests($tests) === 0 ? 0 : 1);
