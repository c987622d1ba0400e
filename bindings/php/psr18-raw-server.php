<?php

// Answers each request of tests_psr18.php with the bytes in the parameter "answer" of its URL. GET /requests returns
// the bytes of the earlier requests, as a list in JSON.

declare(strict_types=1);

$server = stream_socket_server('tcp://127.0.0.1:0');
echo stream_socket_get_name($server, false), "\n";
$requests = [];
while ($connection = stream_socket_accept($server, 3600)) {
    $request = '';
    while (!str_contains($request, "\r\n\r\n") && !feof($connection)) {
        $request .= fread($connection, 65536);
    }
    $target = explode(' ', $request)[1] ?? '';
    parse_str(parse_url($target, PHP_URL_QUERY) ?? '', $parameters);
    $isLog = $target === '/requests';
    $body = $isLog ? json_encode($requests) : 'ok';
    fwrite($connection, $parameters['answer'] ?? "HTTP/1.1 200 OK\r\n\r\n$body");
    stream_socket_shutdown($connection, STREAM_SHUT_WR);
    $request .= stream_get_contents($connection);
    fclose($connection);
    if (!$isLog) {
        $requests[] = $request;
    }
}
