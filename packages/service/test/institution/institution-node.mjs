// A reference institution as a separate process, from the compiled code (npx tsc -b), so that it can be killed. Its one
// argument is the options as JSON, with the key in base64.

import { startInstitution } from '@perennial/reference-peers';
import { systemClock } from '../../dist/platform/clock.js';

const { key, ...options } = JSON.parse(process.argv[2]);
const institution = await startInstitution({ ...options, key: Buffer.from(key, 'base64'), clock: systemClock });
process.stdout.write(`${JSON.stringify({ ready: true, url: institution.url })}\n`);
process.stdin.resume();
process.stdin.once('end', async () => {
  await institution.stop();
  process.exit(0);
});
