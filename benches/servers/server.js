// The Node.js server of the table `servers`.
//
// usage: node server.js PORT CERTIFICATE KEY DIRECTORY
const fs = require("fs");
const https = require("https");

const [port, certificate, key, directory] = process.argv.slice(2);
const body = fs.readFileSync(`${directory}/body`);
https
  .createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) }, (request, response) => {
    response.writeHead(200, { "Content-Length": body.length });
    response.end(body);
  })
  .listen(Number(port), "127.0.0.1");
