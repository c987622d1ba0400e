<?php

// Writes the declarations for PHP's setting ffi.preload to standard output. With this setting, PHP loads the
// declarations once, when a server starts.
//
// usage: php preload.php >/etc/php/netlib.h

declare(strict_types=1);

$library = __DIR__ . '/libnetlib.so.0.1';
echo "#define FFI_SCOPE \"netlib\"\n";
echo '#define FFI_LIB "', is_file($library) ? $library : 'libnetlib.so.0.1', "\"\n";
readfile(__DIR__ . '/src/netlib.h');
