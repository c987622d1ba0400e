<?php

// Loads netlib. Programs that use Composer need not include this file.

declare(strict_types=1);

spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Netlib\\')) {
        $name = substr($class, 7);
        $name = str_ends_with($name, 'Error') ? 'Error' : $name;
        $file = __DIR__ . "/src/$name.php";
        if (is_file($file)) {
            require_once $file;
        }
    }
});
require_once __DIR__ . '/src/functions.php';
require_once __DIR__ . '/src/natural.php';
Netlib\Runtime::load(Netlib\VERSION, __DIR__);
