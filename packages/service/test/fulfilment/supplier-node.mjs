// A reference supplier as a separate process, from the compiled code (npx tsc -b), so that it can be killed. Its one
// argument is the options as JSON, with the key in base64.

import { startSupplier } from '@perennial/reference-peers';
import { systemClock } from '../../dist/platform/clock.js';

const { key, ...options } = JSON.parse(process.argv[2]);
const supplier = await startSupplier({ ...options, key: Buffer.from(key, 'base64'), clock: systemClock });
process.stdout.write(`${JSON.stringify({ ready: true, url: supplier.url })}\n`);
