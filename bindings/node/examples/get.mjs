// Downloads one URL with the recommended settings, and writes the response's body to standard output:
//
//     node get.mjs https://example.com/

import { ConnectOptions, Headers, Limit, NetlibError, Retry, Stream, TlsContext, attempts, parseUrlStrict } from 'netlib';

if (process.argv.length !== 3) {
    console.error('usage: node get.mjs URL');
    process.exit(2);
}
try {
    const limit = new Limit(120); // bounds all attempts, and the waits between them
    const tls = new TlsContext();
    const options = new ConnectOptions().timeout(20);
    const headers = new Headers({ connection: 'close' });
    const request = { method: 'GET', url: parseUrlStrict(process.argv[2]), headers };
    for await (const attempt of attempts(Retry.recommended(), request, limit)) {
        let stream;
        try {
            stream = await Stream.connect(attempt.url(), tls, options, limit);
            await stream.write(attempt.request().toWire());
            const response = await stream.readResponse(attempt.method());
            if (!(await attempt.accept(response))) continue; // a retry or a redirect follows
            for await (const piece of stream.body(response)) process.stdout.write(piece);
        } catch (error) {
            await attempt.failed(error); // throws if the error is not retried
        } finally {
            stream?.close();
        }
    }
} catch (error) {
    if (!(error instanceof NetlibError)) throw error;
    console.error(error.report());
    process.exitCode = 1;
}
