// Uses of the types that tsc checks.
import netlib, {
    Attempts, NetlibError, RequestForm, Retry, Status, Stream, TlsContext, TlsOptions, Verdict, parseUrl,
} from '../index.mjs';
import type { Limit, Url } from '../index.mjs';

export async function get(url: Url, limit: Limit | AbortSignal): Promise<Buffer[]> {
    const context: TlsContext = new TlsContext(new TlsOptions().addCaFile('ca.pem').minimumVersion(netlib.TlsVersion.V1_3));
    const options = new netlib.ConnectOptions().addressCallback((address: Buffer, classes: number) =>
        classes === netlib.AddressClass.LOOPBACK && address.length > 0 ? Verdict.ALLOW : Verdict.REFUSE,
    );
    const attempts = new Attempts(Retry.recommended(), 'GET', url, null, false, limit);
    const pieces: Buffer[] = [];
    let status: Status;
    do {
        try {
            const stream: Stream = await Stream.connect(attempts.url(), context, options, limit);
            await stream.write(attempts.request(RequestForm.ORIGIN).toWire());
            const response = await stream.readResponse(attempts.method());
            status = await attempts.next(response);
            for await (const piece of stream.body(response)) pieces.push(piece);
        } catch (error) {
            status = await attempts.next(null, error);
        }
    } while (status === Status.SEND_AGAIN);
    return pieces;
}

export const host: string | null = parseUrl('http://a/').host();
export const isClosed = (error: unknown): boolean => error instanceof NetlibError && error.status === Status.CLOSED;

const ended = new Attempts(Retry.recommended(), 'GET', parseUrl('http://a/'), null, false);
const caught: unknown = new Error('failed');
export const statuses: Status[] = [ended.decide(), ended.decide(null, caught), ended.nextSync(), ended.nextSync(null, caught)];

await Stream.connect('http://a/');
await Stream.connect(new URL('http://a/'));
// @ts-expect-error: a Url is not a TlsContext
await Stream.connect(parseUrl('http://a/'), parseUrl('http://b/'));
// @ts-expect-error: a truth value is not a number
new TlsOptions().resumption(1);
