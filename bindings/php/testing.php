<?php

// The functions of the tests.

declare(strict_types=1);

function equal(mixed $got, mixed $wanted): void
{
    if ($got !== $wanted) {
        throw new LogicException('got ' . var_export($got, true) . ', but expected ' . var_export($wanted, true));
    }
}

function thrown(callable $call): Throwable
{
    try {
        $call();
    } catch (Throwable $error) {
        return $error;
    }
    throw new LogicException('the call succeeded');
}

/**
 * Runs tests, and prints the failed ones and the counts.
 *
 * @param array<string, Closure> $tests
 */
function run_tests(array $tests): int
{
    $failed = 0;
    foreach ($tests as $name => $test) {
        try {
            $test();
        } catch (Throwable $error) {
            $failed++;
            echo "FAILED: $name: {$error->getMessage()} at {$error->getFile()}:{$error->getLine()}\n";
        }
    }
    echo count($tests) - $failed, " passed, $failed failed\n";
    return $failed;
}
