# frozen_string_literal: true

# Downloads a URL with the recommended settings, and writes the body to standard output.
#
# usage: ruby get.rb URL

require 'netlib'

unless ARGV.length == 1
  warn 'usage: ruby get.rb URL'
  exit 2
end
begin
  limit = Netlib::Limit.new(120) # bounds all attempts, and the waits between them
  context = Netlib::TlsContext.new
  options = Netlib::ConnectOptions.new.timeout(20)
  Netlib.attempts('GET', ARGV.first, { 'connection' => 'close' }, limit: limit) do |attempt|
    Netlib.connect(attempt.url, context, options, limit) do |stream|
      stream.send_all(attempt.request.to_wire)
      response = stream.response(attempt.method)
      stream.each_piece(response) { |piece| print piece } if attempt.accept(response)
    end
  rescue Netlib::Error => e
    attempt.failed(e) # raises the error if it is not retried
  end
rescue Netlib::Error => e
  abort e.report
end
