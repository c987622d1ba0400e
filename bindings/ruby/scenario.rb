# frozen_string_literal: true

# The steps of bindings/scenario.md.
#
# usage: scenario.rb SERVER CERTIFICATES TAG [STEP…]

require 'netlib'
require 'socket'
require 'tempfile'

SERVER, CERTIFICATES, TAG = ARGV
PORTS = File.readlines("#{SERVER}/ports", chomp: true).to_h { |line| line.split('=', 2) }
STEPS = {} # rubocop:disable Style/MutableConstant -- `step` adds the steps

def step(name, &block)
  STEPS[name] = block
end

def url_of(port, path, host: 'localhost', tag: TAG)
  scheme = %w[http mute].include?(port) ? 'http' : 'https'
  Netlib.parse_url_strict("#{scheme}://#{host}:#{PORTS[port]}#{path}?#{tag}")
end

def tls_options
  Netlib::TlsOptions.new.add_ca_file("#{SERVER}/ca.pem")
end

def send_body(stream, body)
  loop do
    piece, status = body.read(4)
    break if status == Netlib::END_OF_STREAM

    stream.send_all(piece)
  end
end

# Sends one request on a new connection, and returns the response with its body.
def exchange(request, method, url, context: nil, options: nil, limit: nil, body: nil)
  Netlib.connect(url, context || Netlib::TlsContext.new(tls_options), options, limit) do |stream|
    stream.send_all(request.to_wire)
    send_body(stream, body) if body
    response = stream.response(method)
    [response, stream.body(response).chomp]
  end
end

# Gets a URL, and returns the status with the body.
def get(port, path = '/hello', host: 'localhost', tag: TAG, **how)
  url = url_of(port, path, host:, tag:)
  headers = Netlib::Headers.new({ 'connection' => 'close' })
  request = Netlib::Request.new('GET', url, headers, Netlib::REQUEST_FORM_ORIGIN)
  response, body = exchange(request, 'GET', url, **how)
  [response.status, body]
end

def thousandths(seconds)
  seconds.empty? ? '-' : seconds.map { |wait| format('%.3f', wait) }.join(',')
end

# Repeats a request as the recommended Retry decides, without real waits.
class Download
  attr_reader :number, :url, :body

  def run(port, path, method: 'GET', fields: {}, body: nil)
    source = body && Netlib::Body.from_memory(body)
    start = source && Netlib.set_file_position(source, Netlib::POSITION_NONE)
    context = Netlib::TlsContext.new(tls_options)
    headers = Netlib::Headers.new({ 'connection' => 'close' }.merge(fields))
    attempts = Netlib::Attempts.new(retry_policy, method, url_of(port, path), headers, !body.nil?)
    @number = 0
    loop do
      Netlib.rewind_body(source, start) if source
      break unless try(attempts, context, source) == Netlib::SEND_AGAIN
    end
    self
  end

  def waited
    thousandths(@waits)
  end

  def to_s(line = body.lines.first.chomp)
    "#{@status} #{number} #{waited} #{line}"
  end

  private

  def retry_policy
    @waits = []
    options = Netlib::RetryOptions.new_recommended.sleep { |seconds| @waits << seconds }.random { 0.5 }
    Netlib::Retry.new(options)
  end

  # Makes one attempt, and returns the status of `next`.
  def try(attempts, context, source)
    @number += 1
    @url = attempts.url
    request = attempts.request(Netlib::REQUEST_FORM_ORIGIN)
    sent = source if attempts.sends_body?
    response, @body = exchange(request, attempts.method, @url, context:, body: sent)
    @status = response.status
    attempts.next(response)
  rescue Netlib::Error => e
    attempts.next(nil, e)
  end
end

def error_of
  yield
  raise 'the call succeeded'
rescue Netlib::Error => e
  e
end

def described(error)
  "#{error.name} #{error.causes.size} #{error.message}|#{(error.advice || '-').split(':').first}"
end

def handshake_error(port, options)
  described(error_of { Netlib.connect(url_of(port, '/'), Netlib::TlsContext.new(options)) })
end

step('version') { Netlib.version[/\A\d+\.\d+/] }

step('version-refused') do
  Netlib::Runtime.load_library('0.99.0')
  'loaded'
rescue LoadError => e
  e.message.include?('0.99.0') && e.message.include?(Netlib.version) ? 'refused' : e.message
end

step('url-parse') do
  url = Netlib.parse_url('HTTPS://User@EXAMPLE.com:8443/a%20b?q=1#f')
  [url.scheme, url.auth, url.host, url.port, url.path, url.query, url.fragment, url].join('|')
end

step('url-resolve') do
  base = Netlib.parse_url('http://a/b/c/d;p?q')
  ['g', '../g', '//g', '?y'].map { |reference| base.resolve(reference) }.join(' ')
end

step('url-error') do
  error = error_of { Netlib.parse_url_strict('http://exa mple.com/') }
  "#{error.name} #{error.offset} #{error.message}"
end

step('url-nul') do
  error = error_of { Netlib.parse_url("http://a.example\0.b/") }
  "#{error.name} #{error.offset} #{error.message}"
end

step('host-nul') do
  Netlib.create_connection("127.0.0.1\0.b", Integer(PORTS['http']))
  'connected'
rescue ArgumentError
  'refused'
end

step('truth-values') do
  url = Netlib.parse_url('https://example.com:8443/')
  policy = Netlib::Retry.new(Netlib::RetryOptions.new.raise_on_status(false).raise_on_redirect(true))
  same = %w[https://example.com:8443/x https://example.com/].map { |text| url.same_origin?(Netlib.parse_url(text)) }
  [*same, policy.raise_on_status?, policy.raise_on_redirect?].join(' ')
end

step('retry-reset') { Download.new.run('https', '/reset-after-head').to_s }
step('retry-after') { Download.new.run('https', '/busy-once').to_s }

step('retry-redirect') do
  fields = { 'authorization' => 'Basic dTpw', 'x-one' => '1' }
  done = Download.new.run('https', '/redirect-other-origin', fields:)
  received = done.body.scan(/^([^:\s]+): *(.*?)\r?$/).to_h.transform_keys(&:downcase)
  headers = fields.keys.map { |name| "#{name}=#{received.fetch(name, 'absent')}" }
  done.to_s([done.url.path, *headers].join(' '))
end

def failed_download(path)
  done = Download.new
  error = error_of { done.run('https', path) }
  "#{error.name} #{done.number} #{done.waited} #{[error, *error.causes].map(&:message).join('|')}"
end

step('retry-exhausted') { failed_download('/hang-up') }

step('retry-stopped') { failed_download('/come-back-tomorrow') }

step('body-again') do
  fields = { 'content-length' => '10' }
  done = Download.new.run('https', '/reset-after-request', method: 'PUT', fields:, body: '0123456789')
  done.to_s(done.body.lines.last)
end

step('tls-get') { Download.new.run('https', '/hello').to_s }
step('tls-wrong-name') { handshake_error('wronghost', tls_options) }
step('tls-expired') { handshake_error('expired', tls_options.wall_clock { 2_000_000_000.0 }) }
step('tls-untrusted') { handshake_error('untrusted', tls_options) }

step('tls-client') do
  options = tls_options.identity_files("#{CERTIFICATES}/client.pem", "#{CERTIFICATES}/client.key")
  get('clients', context: Netlib::TlsContext.new(options)).join(' ')
end

step('tls-client-missing') { described(error_of { get('clients') }) }

step('tls-fingerprint') do
  context = Netlib::TlsContext.new(tls_options)
  certificate = Netlib.connect(url_of('https', '/'), context) { |stream| stream.peer_certificate(0) }
  Netlib.assert_fingerprint(certificate, File.read("#{SERVER}/sha256").strip)
  "true #{error_of { Netlib.assert_fingerprint(certificate, '0' * 64) }.name}"
end

step('tls-pin') do
  context = Netlib::TlsContext.new(tls_options.add_pin("sha256//#{'A' * 43}="))
  error_of { Netlib.connect(url_of('https', '/'), context) }.name
end

step('fifty') do
  threads = Array.new(50) { Thread.new { get('http', '/when-fifty-ask') } }
  threads.count { |thread| thread.value.first == 200 }.to_s
end

step('deadline') { error_of { get('mute', '/', limit: Netlib::Limit.new(0.05)) }.name }

step('cancel') do
  limit = Netlib::Limit.new(30)
  canceller = Thread.new do
    sleep 0.1
    limit.cancel
  end
  error = error_of { get('mute', '/', limit:) }
  canceller.join
  error.name
end

step('callback-clock') do
  now = 100.0
  timeout = Netlib::Timeout.new(10, nil, nil)
  timeout.set_clock { now }
  timeout.start_connect
  now = 103.0
  format('%.3f', timeout.read_timeout)
end

step('callback-resolve') do
  hosts = []
  options = Netlib::ConnectOptions.new.resolve_callback do |host, port, _seconds, addresses|
    hosts << host
    addresses.add(Socket.sockaddr_in(port, '127.0.0.1'))
  end
  status, body = get('http', options:, host: 'a.test')
  "#{hosts.first} #{status} #{body}"
end

step('callback-address') do
  got = []
  options = Netlib::ConnectOptions.new.address_callback do |_address, classes|
    got << classes
    Netlib::VERDICT_REFUSE
  end
  error = error_of { get('https', options:, host: '127.0.0.1') }
  "#{error.name} #{got.first}"
end

step('callback-raises') do
  mine = KeyError.new('not this address')
  options = Netlib::ConnectOptions.new.address_callback { raise mine }
  same = begin
    get('http', options:, tag: "#{TAG}-refused")
  rescue KeyError => e
    e.equal?(mine) ? 'same' : 'another'
  end
  requests = File.exist?("#{SERVER}/requests") ? File.readlines("#{SERVER}/requests") : []
  "#{same} #{requests.count { |line| line.include?("#{TAG}-refused") }}"
end

step('callback-collected') do
  slept = []
  make = -> { Netlib::Retry.new(Netlib::RetryOptions.new_recommended.sleep { |seconds| slept << seconds }) }
  policy = make.call
  GC.start
  response = Netlib::Response.new('GET', 503, Netlib::Headers.new({ 'retry-after' => '1' }))
  policy.decide('GET', Netlib.parse_url('http://localhost/'), response).sleep
  thousandths(slept)
end

step('key-log') do
  Tempfile.create('keys') do |file|
    get('https', context: Netlib::TlsContext.new(tls_options.keylog_file(file.path)))
    File.read(file.path).split.first
  end
end

step('user-data') do
  mine = KeyError.new("the application's own failure")
  failure = Netlib.make_error(Netlib::IO, 'the exchange failed', user_data: mine)
  policy = Netlib::Retry.new(Netlib::RetryOptions.new.total(0))
  raised = error_of { policy.decide('GET', Netlib.parse_url('http://localhost/'), nil, failure) }
  raised.user_data.equal?(mine) ? 'same' : raised.message
end

def resident
  Integer(File.read('/proc/self/statm').split[1]) * 4096
end

step('collected') do
  before = resident
  100_000.times { |number| Netlib.parse_url("http://localhost/#{number}") }
  grown = resident - before
  grown < 32 << 20 ? 'bounded' : "#{grown} bytes"
end

step('fork') do
  stream = Netlib.connect(url_of('http', '/hello'))
  reader, writer = IO.pipe
  child = fork do
    writer.write("#{Netlib.parse_url('http://hello/').host} #{error_of { stream.read(10) }.name}")
    writer.close
    exit!(0)
  end
  writer.close
  Process.wait(child)
  reader.read
end

def seconds_now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

step('interrupt') do
  # A shell starts its background jobs with SIGINT ignored.
  trap('INT', 'DEFAULT')
  sender = Process.spawn("sleep 0.1; kill -INT #{Process.pid}")
  start = seconds_now
  get('mute', '/', limit: Netlib::Limit.new(30))
  'not interrupted'
rescue Interrupt
  seconds = seconds_now - start
  Process.wait(sender)
  seconds < 1 ? 'interrupted' : "after #{seconds} s"
end

chosen = ARGV.drop(3)
(chosen.empty? ? STEPS.keys : chosen).each do |name|
  result = begin
    STEPS[name].call
  rescue StandardError => e
    "#{e.class}: #{e.message} #{e.backtrace.first}"
  end
  puts "#{name}\t#{result}"
  $stdout.flush
end
