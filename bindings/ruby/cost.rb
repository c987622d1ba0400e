# frozen_string_literal: true

# Parses a URL and gets five components, COUNT times for each line of standard input; prints the sum of the results.
#
# usage: cost.rb URL COUNT

require 'netlib'

text, count = ARGV
$stdout.sync = true

$stdin.each_line do
  sum = 0
  Integer(count).times do
    url = Netlib.parse_url(text)
    sum += url.scheme.length + url.host.length + url.port + url.path.length + url.query.length
    url.close
  end
  puts sum
end
