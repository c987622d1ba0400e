// Prints the body of a URL with fetch.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const response = await fetch(process.argv[2]);
await pipeline(Readable.fromWeb(response.body), process.stdout);
