'use strict';
// The package: the generated functions, what lib/natural.cjs adds to them, and the exceptions.

const api = require('./lib/api.cjs');
const { fromInfo, makeError, taxonomy, ...exceptions } = require('./lib/errors.cjs');
const natural = require('./lib/natural.cjs');
const { textToBytes } = require('./lib/runtime.cjs');

void [fromInfo, makeError, taxonomy];
module.exports = { ...api, ...natural, ...exceptions, textToBytes };
