import js from '@eslint/js';

const globals = Object.fromEntries(
    [
        'AbortController', 'AbortSignal', 'Buffer', 'URL', 'clearInterval', 'clearTimeout', 'console',
        'globalThis', 'performance', 'process', 'queueMicrotask', 'setImmediate', 'setInterval', 'setTimeout',
    ].map((name) => [name, 'readonly']),
);
const commonjs = { __dirname: 'readonly', module: 'writable', require: 'readonly' };

export default [
    { ignores: ['node_modules/', 'index.d.*', '**/*.ts'] },
    js.configs.recommended,
    {
        languageOptions: { ecmaVersion: 2023, sourceType: 'module', globals },
        rules: { eqeqeq: 'error', 'no-var': 'error', 'prefer-const': 'error', 'no-shadow': 'error', curly: ['error', 'multi-line'] },
    },
    { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs', globals: { ...globals, ...commonjs } } },
    // Generated code names variables after the parameters of C, and does not use every helper.
    { files: ['lib/api.cjs'], rules: { 'no-shadow': 'off' } },
];
