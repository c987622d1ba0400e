<?php

// Answers the requests of tests_psr18.php. PHP's web server calls this file for each request.

declare(strict_types=1);

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
// The number of requests with this URL.
$counter = getenv('COUNTERS') . '/' . md5($_SERVER['REQUEST_URI']);
file_put_contents($counter, '.', FILE_APPEND);
$count = filesize($counter);
if ($path === '/busy-once' && $count === 1) {
    http_response_code(503);
    header('retry-after: 0');
} elseif (preg_match('#^/status/(\d+)$#', $path, $found)) {
    http_response_code((int) $found[1]);
} elseif ($path === '/redirect') {
    header('location: /echo?from=redirect', true, (int) ($_GET['status'] ?? 307));
} elseif ($path === '/redirect-to') {
    header("location: {$_GET['to']}", true, 302);
} elseif ($path === '/large') {
    echo str_repeat('0123456789', 300000);
    exit;
}
header('x-two: 1');
header('x-two: 2', false);
$fields = array_intersect_key(getallheaders(), array_flip(['Connection', 'Content-Length', 'Host', 'X-Test']));
echo json_encode([
    'count' => $count,
    'method' => $_SERVER['REQUEST_METHOD'],
    'target' => $_SERVER['REQUEST_URI'],
    'fields' => $fields,
    'body' => file_get_contents('php://input'),
]);
