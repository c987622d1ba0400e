// Uses of the types that tsc checks.
import netlib, { NetlibError, Retry, Status, Stream, TlsContext, TlsOptions, Verdict, attempts, parseUrl } from '../index.mjs';
import type { Limit, Url } from '../index.mjs';

export async function get(url: Url, limit: Limit | AbortSignal): Promise<Buffer[]> {
    const context: TlsContext = new TlsContext(new TlsOptions().addCaFile('ca.pem').minimumVersion(netlib.TlsVersion.V1_3));
    const options = new netlib.ConnectOptions().addressCallback((address: Buffer, classes: number) =>
        classes === netlib.AddressClass.LOOPBACK && address.length > 0 ? Verdict.ALLOW : Verdict.REFUSE,
    );
    const pieces: Buffer[] = [];
    for await (const attempt of attempts(Retry.recommended(), { url }, limit)) {
        const stream: Stream = await Stream.connect(attempt.url(), context, options, limit);
        await stream.write('text');
        const response = await stream.readResponse('GET');
        for await (const piece of stream.body(response)) pieces.push(piece);
    }
    return pieces;
}

export const host: string | null = parseUrl('http://a/').host();
export const isClosed = (error: unknown): boolean => error instanceof NetlibError && error.status === Status.CLOSED;

// @ts-expect-error: a Url is not a TlsContext
await Stream.connect(parseUrl('http://a/'), parseUrl('http://b/'));
// @ts-expect-error: a truth value is not a number
new TlsOptions().resumption(1);
