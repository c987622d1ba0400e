// Tests of worker threads that are terminated.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { test, withServer } from './helpers.mjs';

test('20 terminated workers leave no descriptor', () => {
    const program = `
        const { parentPort, workerData: { url, name } } = require('node:worker_threads');
        const netlib = require(${JSON.stringify(createRequire(import.meta.url).resolve('../index.cjs'))});
        process.on('warning', (warning) => { throw warning; });
        ({
            async loaded() {},
            async connected() { globalThis.stream = await netlib.Stream.connect(url); },
            async reading() {
                const limit = new netlib.Limit(20);
                const stream = await netlib.Stream.connect(url, null, null, limit);
                stream.read(Buffer.alloc(1));
            },
            async aborting() {
                const stream = await netlib.Stream.connect(url, null, null, new AbortController().signal);
                stream.read(Buffer.alloc(1));
            },
            async closed() { (await netlib.Stream.connect(url)).close(); },
            async descriptor() { globalThis.fd = await netlib.createConnection('127.0.0.1', Number(new URL(url).port)); },
        })[name]().then(() => parentPort.postMessage('ready'));`;
    const open = () => fs.readdirSync('/proc/self/fd').length;
    let accepted = 0;
    return withServer(() => void accepted++, async (url) => {
        for (const name of ['loaded', 'connected', 'reading', 'aborting', 'closed', 'descriptor']) {
            const counts = [];
            for (let round = 0; round < 21; round++) {
                const worker = new Worker(program, { eval: true, workerData: { url: String(url), name } });
                await new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject));
                await worker.terminate();
                counts.push(open());
            }
            // The server closes its side of a connection a little later.
            assert.ok(counts[20] < counts[0] + 10, `${name}: ${counts}`);
        }
        assert.ok(accepted >= 100);
    });
});

test('a worker may be terminated during a wait, in a process that does not use the package otherwise', () =>
    withServer(() => {}, async (url) => {
        const program = `
            const { Worker } = require('node:worker_threads');
            const code = \`
                const netlib = require(${JSON.stringify(createRequire(import.meta.url).resolve('../index.cjs'))});
                const { parentPort } = require('node:worker_threads');
                netlib.Stream.connect('${url}').then((stream) => {
                    stream.read(Buffer.alloc(1));
                    parentPort.postMessage('ready');
                });\`;
            const worker = new Worker(code, { eval: true });
            worker.on('message', async () => {
                await worker.terminate();
                process.stdout.write('terminated');
            });`;
        const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
        assert.equal(stdout, 'terminated');
    }));
