<?php

declare(strict_types=1);

namespace Netlib;

/** The TLS handshake or the TLS connection failed. */
final class TlsError extends Error
{
}
