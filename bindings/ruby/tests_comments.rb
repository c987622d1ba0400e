# frozen_string_literal: true

# Tests of the generated comments, and of the names in errors.

GENERATED = File.readlines(Netlib.method(:parse_url).source_location.first, chomp: true)
COMMENTS = GENERATED.grep(/\A\s*#/)

test('comments_contain_no_names_of_c') do
  equal(COMMENTS.grep(/(?<!")\bNULL\b|\bnetlib_\w|(?<!")\bNETLIB_\w|ctx_free/), [])
end

# True if `name` is a constant, or the name of a method such as "Netlib::Url#host" or "Netlib.parse_url".
def exists?(name)
  owner, separator, method = name.partition(/[#.]/)
  return !Object.const_source_location(owner).nil? || Object.const_defined?(owner) if separator.empty?
  return Object.const_get(owner).method_defined?(method) if separator == '#'

  method == 'new' || Object.const_get(owner).respond_to?(method)
end

test('comments_name_only_what_exists') do
  names = COMMENTS.join("\n").scan(/\bNetlib(?:::[A-Z]\w*)*(?:[#.][a-z]\w*\??)?/).uniq
  equal(names.size > 300, true)
  equal(names.reject { |name| name.end_with?('_') || exists?(name) }, [])
  groups = COMMENTS.join("\n").scan(/\bNetlib::([A-Z_]+)\*/).flatten.uniq
  equal(groups.reject { |group| Netlib.constants.any? { |name| name.start_with?(group) } }, [])
end

test('a_comment_has_the_parameters_the_result_and_the_failures') do
  at = GENERATED.index { |line| line.include?('def get_retry_after(') }
  from = GENERATED[0...at].rindex { |line| line.strip.empty? } + 1
  comment = GENERATED[from...at].map { |line| line.delete_prefix('    #').strip }.join("\n")
  {
    'text' => 'Parses the Retry-After header of a response',
    'parameter' => "\n@param response [Response] the response.\n",
    'result' => "\n@return [Float] the wait that the server asks for, in seconds from now",
    'failures' => "\n@raise [Netlib::Error] `Netlib::INVALID_HEADER` if the header is neither a number nor a date"
  }.each { |part, text| raise "no #{part}: #{comment}" unless comment.include?(text) }
end

# The error of a self-signed certificate.
def refused_certificate
  certs = "#{__dir__}/../../tests/certs"
  context = Netlib::TlsContext.new(Netlib::TlsOptions.new.system_trust(false).add_ca_file("#{certs}/ca.pem"))
  chain = File.binread("#{certs}/self-signed.pem")
  raised(Netlib::TlsError) { context.verify_chain(chain, Netlib::PURPOSE_SERVER_AUTH) }
end

test('the_advice_of_an_error_names_the_method_of_ruby') do
  error = refused_certificate
  equal(error.info.advice, 'to trust it: netlib_tls_options_add_ca_file')
  equal(error.advice, 'to trust it: Netlib::TlsOptions#add_ca_file')
  equal(error.report.lines.last.strip, "advice: #{error.advice}")
  failed = Netlib::Error.of(Netlib::ErrorInfo.new(Netlib::MAX_RETRY, 'failed', Netlib::ErrorOptions.new.cause(error)))
  equal(failed.causes.first.advice, error.advice)
end

{
  'netlib_tls_options_set_ciphers: bad' => 'Netlib::TlsOptions#ciphers: bad',
  'no value of enum netlib_tls_version' => 'no value of Netlib::TLS_VERSION_*',
  'netlib_limit_free, netlib_limit_new' => 'Netlib::Limit#close, Netlib::Limit.new',
  'netlib_unknown and a netlibrary' => 'netlib_unknown and a netlibrary'
}.each do |text, wanted|
  test("the_message_#{text.tr(' ', '_')}_has_the_names_of_ruby") do
    equal(Netlib.make_error(Netlib::PROTOCOL, text).message, wanted)
  end
end

test('the_message_of_a_refused_value_names_the_method_of_ruby') do
  error = raised(Netlib::ArgumentError) { Netlib::TlsOptions.new.minimum_version(77) }
  equal(error.message, 'Netlib::TlsOptions#minimum_version: version must be one of Netlib::TLS_VERSION_*; it is 77')
end
