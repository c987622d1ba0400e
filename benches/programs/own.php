<?php

// Prints the body of a URL with PHP's streams.
if (!copy($argv[1], 'php://stdout')) {
    exit(1);
}
