// Downloads one URL with the recommended settings, and writes the response's body to standard output:
//
//     node get.mjs https://example.com/

import {
    Attempts, ConnectOptions, Headers, Limit, NetlibError, RequestForm, Retry, Status, Stream, TlsContext, parseUrlStrict,
} from 'netlib';

if (process.argv.length !== 3) {
    console.error('usage: node get.mjs URL');
    process.exit(2);
}
try {
    const limit = new Limit(120); // bounds all attempts, and the waits between them
    const tls = new TlsContext();
    const options = new ConnectOptions().timeout(20);
    const headers = new Headers({ connection: 'close' });
    const url = parseUrlStrict(process.argv[2]);
    const attempts = new Attempts(Retry.recommended(), 'GET', url, headers, false, limit);
    let status;
    do {
        let stream;
        try {
            stream = await Stream.connect(attempts.url(), tls, options, limit);
            await stream.write(attempts.request(RequestForm.ORIGIN).toWire());
            const response = await stream.readResponse(attempts.method());
            status = await attempts.next(response); // waits before a retry
            if (status === Status.OK) for await (const piece of stream.body(response)) process.stdout.write(piece);
        } catch (error) {
            status = await attempts.next(null, error); // waits before a retry, or throws the error
        } finally {
            stream?.close();
        }
    } while (status === Status.SEND_AGAIN);
} catch (error) {
    if (!(error instanceof NetlibError)) throw error;
    console.error(error.report());
    process.exitCode = 1;
}
