# frozen_string_literal: true

# Tests of fibers with a scheduler, and of streams that another thread or fiber closes.

# A scheduler on IO.select. `waits` counts the calls of io_wait.
class Scheduler
  attr_reader :waits

  def initialize
    @ready = []
    @ios = {} # fibers with their descriptors and events
    @timers = {} # fibers with the times at which they are resumed, and an exception
    @blocked = {}
    @lock = Mutex.new
    @wakeup = IO.pipe
    @waits = 0
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def fiber(&block)
    Fiber.new(blocking: false, &block).tap(&:resume)
  end

  def io_wait(io, events, timeout)
    @waits += 1
    @ios[Fiber.current] = [io, events]
    wait_until(timeout && (now + timeout))
  ensure
    @ios.delete(Fiber.current)
  end

  def kernel_sleep(seconds = nil)
    wait_until(seconds && (now + seconds))
  end

  def block(_blocker, timeout = nil)
    @blocked[Fiber.current] = true
    wait_until(timeout && (now + timeout))
  ensure
    @blocked.delete(Fiber.current)
  end

  def unblock(_blocker, fiber)
    # The lock also delays `close` until the other thread has written.
    @lock.synchronize do
      @ready << fiber
      @wakeup[1].write_nonblock('.')
    end
  end

  # Raises the exception in the fiber if the block takes longer.
  def timeout_after(seconds, exception, message)
    fiber = Fiber.current
    timer = Object.new
    @timers[timer] = [now + seconds, -> { fiber.raise(exception, message) }]
    yield
  ensure
    @timers.delete(timer)
  end

  def wait_until(time)
    fiber = Fiber.current
    @timers[fiber] = [time, -> { fiber.resume(false) }] if time
    Fiber.yield
  ensure
    @timers.delete(fiber)
  end

  def close
    step until @ios.empty? && @timers.empty? && @blocked.empty?
    @wakeup.each(&:close)
  end

  def step
    ready = select
    late = @timers.select { |_, (time, _)| time <= now }
    ready.each { |fiber, result| fiber.resume(result) if fiber.alive? }
    late.each { |key, (_, run)| run.call if @timers.delete(key) }
  end

  # Returns the fibers that can continue, with the events for which they have waited.
  def select
    reads = @ios.select { |_, (_, events)| events.anybits?(IO::READABLE) }.transform_values(&:first)
    writes = @ios.select { |_, (_, events)| events.anybits?(IO::WRITABLE) }.transform_values(&:first)
    first = @timers.values.map(&:first).min
    readable, writable = IO.select([@wakeup[0], *reads.values], writes.values, [], first && [first - now, 0].max)
    @wakeup[0].read_nonblock(1024, exception: false)
    done = @lock.synchronize { @ready.slice!(0..) }.to_h { |fiber| [fiber, true] }
    reads.each { |fiber, io| done[fiber] = IO::READABLE if readable&.include?(io) }
    writes.each { |fiber, io| done[fiber] = IO::WRITABLE if writable&.include?(io) }
    done
  end
end

# Runs the blocks as fibers of one thread with a scheduler. Returns their values, and the scheduler.
def in_fibers(*blocks)
  values = []
  scheduler = Scheduler.new
  Thread.new do
    Fiber.set_scheduler(scheduler)
    blocks.each_with_index do |block, at|
      Fiber.schedule do
        values[at] = block.call
      rescue Exception => e # rubocop:disable Lint/RescueException -- the caller compares it
        values[at] = e
      end
    end
  end.join
  [values, scheduler]
end

# Yields a stream and the other end of its connection.
def connected_stream
  near, far = UNIXSocket.pair
  stream = Netlib::Stream.new_fd(near)
  yield stream, far
ensure
  stream&.close
  far.close
end

# Each wait ends only because the other fiber runs meanwhile.
test('reads_of_two_fibers_overlap') do
  connected_stream do |one, far_of_one|
    connected_stream do |two, far_of_two|
      values, scheduler = in_fibers(
        lambda {
          data = one.read(10)
          far_of_two.write('second')
          data
        },
        lambda {
          far_of_one.write('first')
          two.read(10)
        }
      )
      equal(values, [['first', 0], ['second', 0]])
      equal(scheduler.waits, 2)
    end
  end
end

test('send_all_of_a_fiber_waits_until_another_fiber_has_read') do
  size = 4 << 20
  connected_stream do |stream, far|
    count = 0
    values, scheduler = in_fibers(
      -> { stream.send_all('a' * size) },
      -> { count += far.readpartial(65_536).size while count < size }
    )
    equal([values, count], [[nil, nil], size])
    equal(scheduler.waits > 2, true)
  end
end

test('a_response_and_its_body_arrive_while_another_fiber_sends_them') do
  connected_stream do |stream, far|
    values, = in_fibers(
      lambda {
        response = stream.response('GET')
        [response.status, stream.body(response)]
      },
      lambda {
        ["HTTP/1.1 200 OK\r\ncontent-le", "ngth: 4\r\n\r\nab", 'cd'].each do |piece|
          far.write(piece)
          sleep 0.001
        end
      }
    )
    equal(values.first, [200, 'abcd'])
  end
end

test('fibers_connect_while_another_fiber_accepts') do
  server = TCPServer.new('127.0.0.1', 0)
  values, = in_fibers(
    lambda {
      url = "http://127.0.0.1:#{server.addr[1]}/"
      Netlib.connect(url, nil, nil, Netlib::Limit.new(10)) { |stream| stream.read(10).first }
    },
    lambda {
      socket = server.accept
      socket.write('hello')
      socket.close
    }
  )
  equal(values, ['hello', nil])
ensure
  server.close
end

test('a_handshake_of_fibers_makes_both_ends') do
  certs = "#{__dir__}/../../tests/certs"
  options = -> { Netlib::TlsOptions.new.system_trust(false).add_ca_file("#{certs}/ca.pem") }
  server = options.call.identity_files("#{certs}/server.pem", "#{certs}/server.key")
  near, far = UNIXSocket.pair
  client_end = Netlib.tls_wrap_fd(Netlib::TlsContext.new(options.call), near, 'localhost')
  server_end = Netlib.tls_accept_fd(Netlib::TlsContext.new(server), far)
  values, = in_fibers(
    lambda {
      client_end.handshake
      client_end.send_all('ping')
      client_end.read(10)
    },
    lambda {
      got = server_end.read(10)
      server_end.send_all(got.first.upcase)
    }
  )
  equal(values, [['PING', 0], nil])
end

test('the_wait_before_an_attempt_lets_another_fiber_run') do
  attempts = Netlib::Attempts.new(Netlib::Retry.recommended, 'GET', Netlib.parse_url('http://a/'), nil, false)
  order = []
  values, = in_fibers(
    lambda {
      attempts.next(response_of(503, 'retry-after' => '1')).tap { order << :attempt }
    },
    -> { order << :other }
  )
  equal([values.first, order], [Netlib::SEND_AGAIN, %i[other attempt]])
end

{
  'a_read' => ->(stream, _) { stream.read(10) },
  'a_wait_in_a_helper_thread' => ->(_, far) { Netlib.wait_for_read(far.fileno, nil) }
}.each do |name, act|
  test("timeout_ends_#{name}_of_a_fiber") do
    connected_stream do |stream, far|
      threads = Thread.list
      (error,), = in_fibers(-> { Timeout.timeout(0.05) { act.call(stream, far) } })
      equal([error.class, Thread.list - threads], [Timeout::Error, []])
      # The stream can be used again.
      far.write('later')
      equal(stream.read(10), ['later', 0])
    end
  end
end

test('the_settings_of_a_stream_end_the_wait_of_a_fiber') do
  total = Netlib::Timeout.new(0.02, nil, nil)
  total.start_connect
  {
    'read timeout' => [
      ->(stream) { stream.set_read_timeout(0.02) }, 'NETLIB_READ_TIMEOUT', 'nothing arrived for 0.02 s'
    ],
    'limit' => [->(stream) { stream.set_limit(Netlib::Limit.new(0.02)) }, 'NETLIB_DEADLINE_EXCEEDED'],
    'total limit' => [->(stream) { stream.use_timeout(total) }, 'NETLIB_READ_TIMEOUT'],
    'throughput' => [->(stream) { stream.set_minimum_throughput(5, 0.02) }, 'NETLIB_TOO_SLOW']
  }.each do |name, (set, status, message)|
    silent_stream do |stream|
      set.call(stream)
      (error,), = in_fibers(-> { stream.read(10) })
      equal([name, error.name], [name, status])
      equal(error.message, message) if message
    end
  end
end

{
  'read' => [nil, nil, 0.02],
  'total' => [0.2, nil, nil]
}.each do |name, limits|
  test("the_#{name}_limit_of_the_connect_options_ends_the_wait_of_a_fiber") do
    server = TCPServer.new('127.0.0.1', 0)
    options = Netlib::ConnectOptions.new.use_timeout(Netlib::Timeout.new(*limits)).clone
    url = "http://127.0.0.1:#{server.addr[1]}/"
    (error,), = in_fibers(-> { Netlib.connect(url, nil, options, Netlib::Limit.new(5)) { |stream| stream.read(10) } })
    equal(error.name, 'NETLIB_READ_TIMEOUT')
  ensure
    server.close
  end
end

test('the_write_timeout_ends_the_wait_of_a_fiber') do
  silent_stream do |stream|
    stream.set_write_timeout(0.02)
    (error,), = in_fibers(-> { stream.send_all('a' * (16 << 20)) })
    equal(error.name, 'NETLIB_WRITE_TIMEOUT')
  end
end

test('a_limit_that_another_fiber_cancels_ends_the_wait_of_a_fiber') do
  silent_stream do |stream|
    limit = Netlib::Limit.new(30)
    stream.set_limit(limit)
    (error,), = in_fibers(-> { stream.read(10) }, -> { limit.cancel })
    equal(error.name, 'NETLIB_CANCELLED')
  end
end

test('a_stream_that_does_not_block_returns_its_status_in_a_fiber') do
  silent_stream do |stream|
    stream.set_blocking(false)
    values, scheduler = in_fibers(-> { stream.read(10) })
    equal([values.first, scheduler.waits], [[nil, Netlib::WANT_READ], 0])
  end
end

test('a_stream_blocks_in_a_thread_after_a_fiber_has_used_it') do
  silent_stream do |stream|
    in_fibers(-> { Timeout.timeout(0.02) { stream.read(10) } })
    stream.set_read_timeout(0.02)
    equal(raised(Netlib::TimeError) { stream.read(10) }.name, 'NETLIB_READ_TIMEOUT')
  end
end

test('a_callback_does_not_switch_fibers') do
  timeout = Netlib::Timeout.new(10, nil, nil)
  order = []
  timeout.set_clock do
    sleep 0.01
    order << :callback
    1.0
  end
  in_fibers(-> { timeout.start_connect }, -> { order << :other })
  equal(order, %i[callback other])
end

test('a_stream_inside_another_keeps_its_limit') do
  near, far = UNIXSocket.pair
  outer = Netlib::Stream.new_fd(near)
  limit = Netlib::Limit.new(5)
  outer.set_limit(limit)
  context = Netlib::TlsContext.new(Netlib::TlsOptions.new.system_trust(false).check_hostname(false).verify_mode(0))
  inner = Netlib.tls_wrap_stream(context, outer, 'localhost')
  (error,), = in_fibers(-> { inner.handshake }, -> { limit.cancel })
  equal(error.name, 'NETLIB_CANCELLED')
  equal(raised(Netlib::TimeError) { inner.handshake }.name, 'NETLIB_CANCELLED')
ensure
  far.close
end

test('close_ends_a_read_of_another_thread') do
  silent_stream do |stream|
    reader = Thread.new { [raised(IOError) { stream.read(10) }.message, Thread.pending_interrupt?] }
    sleep 0.01 until reader.stop?
    2.times { stream.close }
    equal(reader.value, ['stream closed in another thread', false])
    equal(stream.instance_variable_get(:@owner), nil)
  end
end

test('close_ends_a_read_of_another_fiber') do
  silent_stream do |stream|
    (error,), = in_fibers(-> { stream.read(10) }, -> { stream.close })
    equal([error.class, error.message], [IOError, 'the Netlib::Stream is closed'])
  end
end

test('a_thread_that_is_killed_ends_its_read') do
  silent_stream do |stream|
    reader = Thread.new { stream.read(10) }
    sleep 0.01 until reader.stop?
    equal(reader.kill.join(5), reader)
  end
end
