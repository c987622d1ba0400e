<?php

// Parses URLs, and gets five components of each, once for each line of standard input; prints the sum of the results. The
// URLs are the first argument with the numbers from 1 to COUNT at the end. With "own", PHP's parse_url parses them.
//
// usage: php cost.php URL COUNT [own]

declare(strict_types=1);

require __DIR__ . '/../../target/bindings/php/autoload.php';

function parse(string $text): int
{
    $url = Netlib\parse_url($text);
    $sum = strlen($url->scheme()) + strlen($url->host()) + $url->port() + strlen($url->path());
    $sum += strlen($url->query());
    $url->close();
    return $sum;
}

function parse_with_own(string $text): int
{
    $url = parse_url($text);
    $sum = strlen($url['scheme']) + strlen($url['host']) + $url['port'] + strlen($url['path']);
    return $sum + strlen($url['query']);
}

$texts = array_map(static fn (int $i) => $argv[1] . $i, range(1, (int) $argv[2]));
$parse = isset($argv[3]) ? parse_with_own(...) : parse(...);
while (fgets(STDIN) !== false) {
    $sum = 0;
    foreach ($texts as $text) {
        $sum += $parse($text);
    }
    echo $sum, "\n";
}
