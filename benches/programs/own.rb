# frozen_string_literal: true

# Prints the body of a URL with Net::HTTP.
require 'net/http'

url = URI(ARGV.fetch(0))
Net::HTTP.start(url.host, url.port, use_ssl: url.scheme == 'https') do |connection|
  connection.request_get(url.request_uri) { |response| response.read_body { |piece| $stdout.write(piece) } }
end
