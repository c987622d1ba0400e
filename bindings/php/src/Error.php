<?php

declare(strict_types=1);

namespace Netlib;

/** A failure of netlib. There is a subclass for each class of statuses. */
class Error extends \RuntimeException
{
    /** The offset of the first invalid byte, or null. */
    public readonly ?int $offset;

    /** Advice for the developer: the setting that would change the outcome, or null. */
    public readonly ?string $advice;

    /** @var list<Error> */
    public readonly array $causes;

    final private function __construct(public readonly ErrorInfo $info)
    {
        $this->causes = array_map(
            static fn (int $index): Error => self::of($info->cause($index)),
            $info->causeCount() > 0 ? range(0, $info->causeCount() - 1) : [],
        );
        parent::__construct($info->message() ?? '', $info->status(), $this->causes[0] ?? null);
        $offset = $info->offset();
        $this->offset = $offset < 0 ? null : $offset;
        $this->advice = $info->advice();
    }

    /** @internal */
    public static function of(ErrorInfo $info): self
    {
        return match (status_class($info->status())) {
            CLASS_ARGUMENT => new ArgumentError($info),
            CLASS_STATE => new StateError($info),
            CLASS_SYSTEM => new SystemError($info),
            CLASS_TIME => new TimeError($info),
            CLASS_URL => new UrlError($info),
            CLASS_CONNECT => new ConnectError($info),
            CLASS_TLS => new TlsError($info),
            CLASS_HTTP => new HttpError($info),
            CLASS_RETRY => new RetryError($info),
            CLASS_APPLICATION => new ApplicationError($info),
            default => new self($info),
        };
    }

    /** The status: a constant such as CONNECT_TIMEOUT. */
    public function status(): int
    {
        return $this->getCode();
    }

    /** The name of the status in C: "NETLIB_CONNECT_TIMEOUT", for example. */
    public function name(): string
    {
        return status_name($this->getCode()) ?? (string) $this->getCode();
    }

    /** The message with the causes and the advice, for logs. */
    public function report(): string
    {
        return $this->info->report() ?? '';
    }

    /** The value that make_error got for this error, or for the first cause that has one. */
    public function userData(): mixed
    {
        $value = $this->info->userData();
        foreach ($this->causes as $cause) {
            $value ??= $cause->userData();
        }
        return $value;
    }
}
