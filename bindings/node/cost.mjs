// Parses a URL and gets five components, COUNT times for each line of standard input; prints the sum of the results.
//
// usage: cost.mjs URL COUNT

import readline from 'node:readline';
import { parseUrl } from './index.mjs';

const [text, count] = process.argv.slice(2);

function parse() {
    let sum = 0;
    for (let i = 0; i < Number(count); i++) {
        const url = parseUrl(text);
        sum += url.scheme().length + url.host().length + url.port() + url.path().length + url.query().length;
        url.close();
    }
    return sum;
}

// eslint-disable-next-line no-unused-vars -- the lines are empty
for await (const line of readline.createInterface({ input: process.stdin })) console.log(parse());
