<?php

declare(strict_types=1);

namespace Netlib;

/** A call at the wrong time, such as a call on an object that is in use. */
final class StateError extends Error
{
}
