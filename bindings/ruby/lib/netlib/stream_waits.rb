# frozen_string_literal: true

# The waits of streams in threads and fibers.
module Netlib
  # The waits of a stream, which `close` ends. For fibers, mirrors the settings that end the waits, because C returns
  # none of them, and applies the timeouts only to a stream that blocks.
  # @private
  class StreamWaits
    EVENTS = { WANT_READ => ::IO::READABLE, WANT_WRITE => ::IO::WRITABLE }.freeze
    MUTEX = Mutex.new

    attr_writer :is_blocking, :period

    def initialize(stream)
      @stream = stream
      @is_blocking = true
      @threads = []
    end

    def initialize_copy(other)
      super
      @closing = nil
      @threads = []
      self.limit = other.instance_variable_get(:@limit)
    end

    # A copy for a stream inside this one.
    def for_stream(stream)
      copy = dup
      copy.instance_variable_set(:@stream, stream)
      copy
    end

    def limit=(limit)
      @limit = limit.equal?(Runtime.default_limit) ? nil : limit&.clone
    end

    def read_timeout=(seconds)
      @read_timeout = StreamWaits.finite(seconds)
    end

    def write_timeout=(seconds)
      @write_timeout = StreamWaits.finite(seconds)
    end

    # Takes the read timeout and the total limit of a Timeout. The total limit ends at a time of the monotonic clock.
    def use(read_timeout, total_end)
      self.read_timeout = read_timeout
      @total_end = total_end
    end

    # Repeats a call until the stream does not ask to wait. The call itself does not wait.
    def until_done(&call)
      result = @is_blocking ? without_blocking(&call) : yield
      while @is_blocking && (events = EVENTS[result.is_a?(Array) ? result.last : result])
        result = wait(events) ? without_blocking(&call) : yield
      end
      result
    end

    # Makes a call that may wait, in a thread without a scheduler. The thread delays exceptions for it to the end of the
    # call.
    def in_thread
      MUTEX.synchronize { @threads << Thread.current }
      yield
    ensure
      MUTEX.synchronize { @threads.delete_at(@threads.index(Thread.current) || @threads.size) }
    end

    # Ends the calls of other threads and fibers.
    def close
      @closing&.cancel
      return if @threads.empty?

      MUTEX.synchronize do
        (@threads.uniq - [Thread.current]).each { |thread| thread.raise(IOError, 'stream closed in another thread') }
        @threads.clear
      end
    end

    def self.now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Seconds as a number, nil for no limit. A negative number stands for the default timeout.
    def self.finite(seconds)
      seconds = Netlib.default_timeout if seconds&.negative?
      seconds unless seconds.nil? || seconds.infinite?
    end

    private

    def without_blocking
      @stream.switch_blocking(false)
      yield
    ensure
      @stream.switch_blocking(true) unless @stream.closed?
    end

    # Waits for events of the descriptor. Returns false if the stream's limit or total limit has ended: a call that
    # blocks then fails at once.
    def wait(events)
      timeout = events == ::IO::READABLE ? @read_timeout : @write_timeout
      ends = end_in
      seconds = [timeout, ends, (@period if events == ::IO::READABLE)].compact.min
      return true if Fibers.wait_for(descriptors(events), seconds) || seconds.nil?
      return false if seconds == ends
      return true unless seconds == timeout

      raise Netlib.make_error(*late(events, timeout))
    end

    def late(events, seconds)
      return READ_TIMEOUT, "nothing arrived for #{seconds} s" if events == ::IO::READABLE

      [WRITE_TIMEOUT, "nothing could be sent for #{seconds} s"]
    end

    # The seconds until the limit or the total limit ends.
    def end_in
      [StreamWaits.finite(@limit&.remaining), @total_end && [@total_end - StreamWaits.now, 0].max].compact.min
    end

    # The descriptors of a wait, with their events: that of the stream, and those that end the wait.
    def descriptors(events)
      @closing ||= Limit.new(nil)
      { @stream.fd => events, @closing.fd => ::IO::READABLE }.merge(@limit ? { @limit.fd => ::IO::READABLE } : {})
    end
  end

  # A stream that tells its waits about its settings.
  class Stream
    # Tells the waits of fibers about the settings of the stream.
    # @private
    module Settings
      def set_blocking(blocking)
        super
        waits.is_blocking = blocking
      end

      def set_limit(limit)
        super
        waits.limit = limit
      end

      def set_read_timeout(seconds)
        super
        waits.read_timeout = seconds
      end

      def set_write_timeout(seconds)
        super
        waits.write_timeout = seconds
      end

      def set_minimum_throughput(bytes, seconds)
        super
        waits.period = bytes.zero? ? nil : StreamWaits.finite(seconds)
      end

      def use_timeout(timeout)
        super
        waits.use(timeout.configured_read, timeout.total_end)
      end
    end
    alias switch_blocking set_blocking
    private_constant :Settings
    prepend Settings

    # Frees the stream. A call of another thread or fiber that uses the stream raises an IOError, and the stream is
    # freed when that call has returned.
    def close
      super
      @waits&.close
    end

    # @private
    def waits
      @waits ||= StreamWaits.new(self)
    end

    # @private
    def waits_as(outer)
      @waits = outer.waits.for_stream(self)
    end

    # Tells the waits of a new stream about its settings.
    # @private
    module Connect
      def connect(url, context = nil, options = nil, limit = nil)
        start = StreamWaits.now
        stream, status = super
        stream&.waits&.limit = limit
        stream&.waits&.use(*(options&.stream_limits(start) || [TIMEOUT_DEFAULT, nil]))
        [stream, status]
      end
    end
    private_constant :Connect
    singleton_class.prepend Connect
  end

  # A timeout that tells when its total limit ends.
  class Timeout
    # The time of the monotonic clock at which the total limit ends. nil without a total limit, or if it has not begun.
    # @private
    def total_end
      StreamWaits.now + configured_total - get_connect_duration if configured_total.finite?
    rescue StateError
      nil
    end
  end

  # Options that remember a timeout.
  class ConnectOptions
    # Remembers the limits of the timeout for the streams of the options.
    # @private
    module Limits
      def use_timeout(timeout)
        super
        @limits = [timeout.configured_read, timeout.configured_total, timeout.total_end]
        self
      end

      def clone
        limits = @limits
        super.tap { |copy| copy.instance_variable_set(:@limits, limits) }
      end
    end
    private_constant :Limits
    prepend Limits

    # The read timeout of a new stream, and the end of its total limit; `start` is the start of the connect operation.
    # nil without a timeout.
    # @private
    def stream_limits(start)
      return unless @limits

      read_timeout, total, total_end = @limits
      [read_timeout, total_end || (start + total if total.finite?)]
    end
  end

  # Gives a stream inside another one the waits of that one.
  # @private
  module InnerStreams
    def tls_wrap_stream(context, outer, *)
      super.tap { |stream| stream.waits_as(outer) }
    end

    def tls_accept_stream(context, outer, *)
      super.tap { |stream| stream.waits_as(outer) }
    end
  end
  private_constant :InnerStreams
  singleton_class.prepend InnerStreams
end
