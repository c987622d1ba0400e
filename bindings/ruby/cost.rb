# frozen_string_literal: true

# Parses URLs, and gets five components of each, once for each line of standard input; prints the sum of the results.
# The URLs are the first argument with the numbers from 1 to COUNT at the end. With "own", Ruby's URI parses them.
#
# usage: cost.rb URL COUNT [own]

require 'netlib'
require 'uri'

start, count, own = ARGV
texts = (1..Integer(count)).map { |number| "#{start}#{number}" }
$stdout.sync = true

def parse(text)
  url = Netlib.parse_url(text)
  sum = url.scheme.length + url.host.length + url.port + url.path.length + url.query.length
  url.close
  sum
end

def parse_with_own(text)
  url = URI.parse(text)
  url.scheme.length + url.host.length + url.port + url.path.length + url.query.length
end

$stdin.each_line do
  puts(texts.sum { |text| own ? parse_with_own(text) : parse(text) })
end
