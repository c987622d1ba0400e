<?php

declare(strict_types=1);

namespace Netlib;

/** One attempt of a request. The loop body sends the request, and then calls accept() or failed(). */
final class Attempt
{
    public int $number = 0;

    /** False if the request has no body, because a redirect changed the method. */
    public bool $sendsBody = true;

    /** The last decision; null before the first one, and after a decision that failed. */
    public ?Decision $decision = null;
    private bool $ended = false;
    private bool $continues = false;

    /** @internal */
    public function __construct(
        public string $method,
        public Url $url,
        public ?Headers $headers,
        private Retry $retry,
        private readonly ?Limit $limit,
    ) {
    }

    /** @internal */
    public function begin(): void
    {
        $this->continues = false;
        $this->number++;
    }

    /** @internal */
    public function continues(): bool
    {
        return $this->continues;
    }

    /** The request of this attempt. */
    public function request(int $form = REQUEST_FORM_ORIGIN): Request
    {
        return new Request($this->method, $this->url, $this->headers, $form);
    }

    /**
     * Returns true if the response is the final one. Otherwise prepares and awaits the next attempt, for a retry or a
     * redirect, and returns false.
     */
    public function accept(Response $response): bool
    {
        return $this->decide($response, null);
    }

    /**
     * Prepares and awaits the next attempt, or throws the error with which the retries end. After accept() has returned
     * true or thrown an error, throws its argument.
     */
    public function failed(Error $error): void
    {
        if ($this->ended) {
            throw $error;
        }
        $this->decide(null, $error);
    }

    private function decide(?Response $response, ?Error $error): bool
    {
        $this->ended = true;
        $this->continues = false;
        $this->decision = null;
        $decision = $this->retry->decide($this->method, $this->url, $response, $error, $this->limit);
        $this->decision = $decision;
        if ($decision->action() === ACTION_RETURN_RESPONSE) {
            return true;
        }
        $this->headers = $this->headers === null ? null : $decision->headers($this->headers);
        $this->method = $decision->method();
        $this->url = $decision->url();
        $this->retry = $decision->retry();
        $this->sendsBody = $decision->resendBody();
        $decision->sleep($this->limit);
        $this->ended = false;
        $this->continues = true;
        return false;
    }
}
