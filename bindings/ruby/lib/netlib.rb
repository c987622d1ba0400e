# frozen_string_literal: true

require 'netlib/runtime'
require 'netlib/generated'
require 'netlib/error'
require 'netlib/fibers'
require 'netlib/stream_waits'

# Retry policy, time limits, URLs, headers, TLS and connecting.
module Netlib
  # The methods for comparisons and conversions.
  class Url
    alias to_s to_string

    # URLs are equal if their texts are equal.
    def ==(other)
      other.is_a?(Url) && to_s == other.to_s
    end
    alias eql? ==

    def hash
      to_s.hash
    end

    # Contains the URL without its userinfo, values of the query and fragment, which may be secret.
    def inspect
      closed? ? super : "#<#{self.class} #{redacted}>"
    end
  end

  # Header fields by name.
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
