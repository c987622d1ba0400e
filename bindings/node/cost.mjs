// Parses URLs, and gets five components of each, once for each line of standard input; prints the sum of the results. The
// URLs are the first argument with the numbers from 1 to COUNT at the end. With "own", the class URL parses them.
//
// usage: cost.mjs URL COUNT [own]

import readline from 'node:readline';
import { parseUrl } from './index.mjs';

const [start, count, own] = process.argv.slice(2);
const texts = Array.from({ length: Number(count) }, (_, i) => `${start}${i + 1}`);

function parse(text) {
    const url = parseUrl(text);
    const sum = url.scheme().length + url.host().length + url.port() + url.path().length + url.query().length;
    url.close();
    return sum;
}

/** The protocol of a URL has a colon, and the search has a question mark. */
function parseWithOwn(text) {
    const url = new URL(text);
    return url.protocol.length + url.hostname.length + Number(url.port) + url.pathname.length + url.search.length - 2;
}

function sumOf(parseOne) {
    let sum = 0;
    for (const text of texts) sum += parseOne(text);
    return sum;
}

// eslint-disable-next-line no-unused-vars -- the lines are empty
for await (const line of readline.createInterface({ input: process.stdin })) console.log(sumOf(own ? parseWithOwn : parse));
