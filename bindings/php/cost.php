<?php

// Parses a URL and gets five components, COUNT times for each line of standard input; prints the sum of the results.
//
// usage: php cost.php URL COUNT

declare(strict_types=1);

require __DIR__ . '/../../target/bindings/php/autoload.php';

function parse(string $text, int $count): int
{
    $sum = 0;
    for ($i = 0; $i < $count; $i++) {
        $url = Netlib\parse_url($text);
        $sum += strlen($url->scheme()) + strlen($url->host()) + $url->port() + strlen($url->path());
        $sum += strlen($url->query());
        $url->close();
    }
    return $sum;
}

while (fgets(STDIN) !== false) {
    echo parse($argv[1], (int) $argv[2]), "\n";
}
