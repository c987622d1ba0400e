<?php

// Loads netlib. Programs that use Composer need not include this file.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/src/' . str_replace('\\', '/', substr($class, \strlen('Netlib\\'))) . '.php';
    if (str_starts_with($class, 'Netlib\\') && is_file($file)) {
        require_once $file;
    }
});
require_once __DIR__ . '/src/functions.php';
require_once __DIR__ . '/src/helpers.php';
