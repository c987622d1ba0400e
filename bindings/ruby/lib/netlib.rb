# frozen_string_literal: true

require 'netlib/runtime'
require 'netlib/generated'
require 'netlib/error'

# Retry policy, time limits, URLs, headers, TLS and connecting.
module Netlib
  class Url
    alias to_s to_string
  end

  class Headers
    alias [] get
  end

  # The methods of a stream that blocks.
  class Stream
    # Writes all bytes.
    def send_all(data)
      data = data.b
      until data.empty?
        written, status = write(data)
        Netlib.finished(status)
        data = data.byteslice(written..)
      end
    end

    # Reads the response to a request.
    def response(method)
      response, status = read_response(method)
      Netlib.finished(status)
      response
    end

    # Yields the pieces of a response's body.
    def each_piece(response)
      return enum_for(:each_piece, response) unless block_given?

      decoder = BodyDecoder.new(response)
      loop do
        piece, status = read_body(decoder, 65_536)
        break if status == END_OF_STREAM

        Netlib.finished(status)
        yield piece
      end
    end

    # The body of a response as one string.
    def body(response)
      each_piece(response).to_a.join
    end
  end

  # One attempt of a request. The block of `attempts` sends the request, and then calls `accept`, or `failed` with a
  # Netlib::Error.
  class Attempt
    attr_reader :method, :url, :headers, :number, :decision

    def initialize(method, url, headers, retry_, limit)
      @method = method
      @url = url
      @headers = headers
      @retry = retry_
      @limit = limit
      @number = 0
      @sends_body = true
    end

    # Returns false if the request has no body, because a redirect changed the method.
    def sends_body?
      @sends_body
    end

    # The request of this attempt.
    def request(form = REQUEST_FORM_ORIGIN)
      Request.new(method, url, headers, form)
    end

    # Returns true if the response is the final one. Otherwise prepares and awaits the next attempt, for a retry or a
    # redirect, and returns false.
    def accept(response)
      decide(response, nil)
    end

    # Prepares and awaits the next attempt, or raises the error with which the retries end. After `accept` has returned
    # true or raised an error, raises its argument.
    def failed(error)
      raise error if @ended

      decide(nil, error)
    end

    # Calls the block for this attempt and for each next one.
    def run
      loop do
        @continues = false
        @number += 1
        yield self
        break unless @continues
      end
    end

    private

    def decide(response, error)
      @ended = true
      @continues = false
      @decision = nil
      @decision = @retry.decide(method, url, response, error, @limit)
      return true if decision.action == ACTION_RETURN_RESPONSE

      prepare
      decision.sleep(@limit)
      @continues = true
      @ended = false
    end

    def prepare
      @headers &&= decision.headers(headers)
      @method = decision.method
      @url = decision.url
      @retry = decision.retry
      @sends_body = decision.resend_body?
    end
  end

  class << self
    # Connects to the server of a URL, and makes the TLS handshake for https. Text is parsed by parse_url_strict.
    # Without a context, an https URL gets a context with the default options. With a block, closes the stream after
    # the block, and returns the value of the block.
    def connect(url, context = nil, options = nil, limit = nil)
      url = parse_url_strict(url) unless url.is_a?(Url)
      context ||= TlsContext.new if url.scheme == 'https'
      stream, status = Stream.connect(url, context, options, limit)
      finished(status)
      return stream unless block_given?

      begin
        yield stream
      ensure
        stream.close
      end
    end

    # Yields the attempts of a request: the first one, and then the retries and redirects on which the Retry decides, by
    # default the recommended one. Text is parsed by parse_url_strict.
    def attempts(method, url, headers = nil, retry_: nil, limit: nil, &block)
      url = parse_url_strict(url) unless url.is_a?(Url)
      headers = Headers.new(headers) unless headers.nil? || headers.is_a?(Headers)
      Attempt.new(method, url, headers, retry_ || Retry.recommended, limit).run(&block)
    end

    # Makes an exception of the application's own HTTP layer, about which a Retry can decide. The exceptions of the
    # retries lead back to the user data.
    def make_error(status, message, user_data: nil)
      options = ErrorOptions.new
      options.user_data(user_data) unless user_data.nil?
      Error.of(ErrorInfo.new(status, message, options))
    end

    # Raises an error if a call of a stream that does not block could not finish. The status is not a failure, so an
    # error cannot have it.
    def finished(status)
      raise make_error(INVALID_ARGUMENT, 'a stream that does not block cannot finish this call') unless status == OK
    end
  end
end
