<?php
// Loads netlib.cdef.h and the library with PHP's FFI, and prints the value of each constant whose name is a line of a
// file.
//
// usage: cdef.php netlib.cdef.h LIBRARY NAMES

[, $declarations, $library, $names] = $argv;
$lib = FFI::cdef(file_get_contents($declarations), $library);

foreach (file($names, FILE_IGNORE_NEW_LINES) as $name) {
    echo "$name {$lib->$name}\n";
}
$url = $lib->new('netlib_url *');
$err = $lib->new('netlib_error *');
$status = $lib->netlib_parse_url('https://user@example.com/path', $lib->netlib_nts(), FFI::addr($url), FFI::addr($err));
echo "host $status {$lib->netlib_url_host($url, null)}\n";
$lib->netlib_url_free($url);
$status = $lib->netlib_parse_url('http://[', $lib->netlib_nts(), FFI::addr($url), FFI::addr($err));
echo "error $status {$lib->netlib_error_offset($err)}\n";
$lib->netlib_error_free($err);
