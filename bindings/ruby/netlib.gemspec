# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = 'netlib'
  spec.version = File.read(File.join(__dir__, 'lib/netlib/generated.rb'))[/VERSION = '(.*?)'/, 1]
  spec.summary = 'The hard small parts of an HTTP client: retries, time limits, URLs, headers, TLS and connecting'
  spec.description = <<~TEXT
    A binding of the C library netlib, which the gem contains. Streams wait with the fiber scheduler, if there is one.
    The gem contains signatures for RBS.
  TEXT
  spec.authors = ['The netlib authors']
  spec.licenses = ['MIT', 'Apache-2.0']
  spec.homepage = 'https://netlib.example/netlib'
  spec.metadata = {
    'bug_tracker_uri' => "#{spec.homepage}/issues",
    'changelog_uri' => "#{spec.homepage}/blob/v#{spec.version}/CHANGELOG.md",
    'documentation_uri' => "#{spec.homepage}/tree/v#{spec.version}/bindings/ruby",
    'rubygems_mfa_required' => 'true',
    'source_code_uri' => "#{spec.homepage}/tree/v#{spec.version}"
  }
  spec.files = Dir['lib/**/*', 'sig/**/*', '.yardopts', 'README.md', 'LICENSE-*', 'THIRD-PARTY-NOTICES']
  spec.extra_rdoc_files = ['README.md']
  spec.platform = Gem::Platform::CURRENT
  spec.required_ruby_version = '>= 3.1'
  spec.add_dependency 'ffi', '~> 1.15'
end
