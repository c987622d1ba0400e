'use strict';
// The package: the generated functions, what lib/natural.cjs adds to them, and the exceptions.

const api = require('./lib/api.cjs');
const { fromInfo, makeError, taxonomy, ...exceptions } = require('./lib/errors.cjs');
const { connectStream, ...natural } = require('./lib/natural.cjs');
const { textToBytes } = require('./lib/runtime.cjs');
const sockets = require('./lib/sockets.cjs');

void [connectStream, fromInfo, makeError, taxonomy];
module.exports = { ...api, ...natural, ...exceptions, ...sockets, textToBytes };
