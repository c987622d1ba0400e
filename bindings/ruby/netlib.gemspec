# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = 'netlib'
  spec.version = File.read(File.join(__dir__, 'lib/netlib/generated.rb'))[/VERSION = '(.*?)'/, 1]
  spec.summary = 'Retry policy, time limits, URLs, headers, TLS and connecting'
  spec.description = 'A binding of the C library netlib, which the gem contains.'
  spec.authors = ['The netlib authors']
  spec.licenses = ['MIT', 'Apache-2.0']
  spec.files = Dir['lib/**/*', 'README.md', 'LICENSE-*', 'THIRD-PARTY-NOTICES']
  spec.platform = Gem::Platform::CURRENT
  spec.required_ruby_version = '>= 3.1'
  spec.add_dependency 'ffi', '~> 1.15'
  spec.metadata['rubygems_mfa_required'] = 'true'
end
