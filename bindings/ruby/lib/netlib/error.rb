# frozen_string_literal: true

# The exceptions.
module Netlib
  autoload :C_NAMES, 'netlib/names'
  private_constant :C_NAMES

  # A failure of netlib. There is a subclass for each class of statuses.
  class Error < StandardError
    # The ErrorInfo, which has more details. Its texts contain the names of C.
    attr_reader :info
    # The status: a constant such as Netlib::CONNECT_TIMEOUT.
    attr_reader :status
    # The offset of the first invalid byte, or nil.
    attr_reader :offset
    # Advice for the developer: the setting that would change the outcome, or nil.
    attr_reader :advice
    # The errors that led to this error.
    attr_reader :causes

    def self.of(info)
      CLASSES.fetch(Netlib.status_class(info.status), self).new(info)
    end

    def initialize(info)
      @info = info
      @status = info.status
      @offset = info.offset.negative? ? nil : info.offset
      @advice = in_ruby(info.advice)
      @causes = Array.new(info.cause_count) { |index| Error.of(info.cause(index)) }
      super(in_ruby(info.message))
    end

    # The name of the status: "NETLIB_CONNECT_TIMEOUT", for example.
    def name
      Netlib.status_name(status) || status.to_s
    end

    # The message with the causes and the advice, for logs.
    def report
      in_ruby(info.report)
    end

    # The value that make_error got for this error, or for the first cause that has one.
    def user_data
      value = info.user_data
      causes.each { |cause| value = cause.user_data if value.nil? }
      value
    end

    private

    # The text with names of Ruby instead of names of C.
    def in_ruby(text)
      text&.gsub(/(?:\benum )?\b(netlib_\w+)/) { |found| C_NAMES.fetch(Regexp.last_match(1).to_sym, found) }
    end
  end

  # A call with an invalid argument.
  class ArgumentError < Error; end

  # A call in a state that does not allow it.
  class StateError < Error; end

  # A failure of the operating system, of memory or of a callback.
  class SystemError < Error; end

  # A time limit has ended, or a call was cancelled.
  class TimeError < Error; end

  # An invalid URL.
  class UrlError < Error; end

  # No connection to the server.
  class ConnectError < Error; end

  # A failure of TLS, such as a refused certificate.
  class TlsError < Error; end

  # A peer that does not follow HTTP.
  class HttpError < Error; end

  # The retries of a request have ended without success.
  class RetryError < Error; end

  # A failure of the application's own code.
  class ApplicationError < Error; end

  class Error
    CLASSES = {
      CLASS_ARGUMENT => ArgumentError, CLASS_STATE => StateError, CLASS_SYSTEM => SystemError, CLASS_TIME => TimeError,
      CLASS_URL => UrlError, CLASS_CONNECT => ConnectError, CLASS_TLS => TlsError, CLASS_HTTP => HttpError,
      CLASS_RETRY => RetryError, CLASS_APPLICATION => ApplicationError
    }.freeze
  end
end
