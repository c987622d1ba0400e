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
  headers = Netlib::Headers.new({ 'connection' => 'close' })
  url = Netlib.parse_url_strict(ARGV.first)
  attempts = Netlib::Attempts.new(Netlib::Retry.recommended, 'GET', url, headers, false, limit)
  status = Netlib::SEND_AGAIN
  while status == Netlib::SEND_AGAIN
    begin
      Netlib.connect(attempts.url, context, options, limit) do |stream|
        stream.send_all(attempts.request(Netlib::REQUEST_FORM_ORIGIN).to_wire)
        response = stream.response(attempts.method)
        status = attempts.next(response) # waits before a retry
        stream.each_piece(response) { |piece| print piece } if status == Netlib::OK
      end
    rescue Netlib::Error => e
      status = attempts.next(nil, e) # waits before a retry, or raises the error
    end
  end
rescue Netlib::Error => e
  abort e.report
end
