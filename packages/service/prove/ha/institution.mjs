// The reference institution as a separate process. HTTP requests from this machine can read its ledger and set its
// faults.

import { startInstitution } from '@perennial/reference-peers';
import { systemClock } from '../../dist/platform/clock.js';

/** Debits settle soon, so that the institution sends its notices during the fault. */
const DELAYS = { settleMs: 2_000, noticeRetryMs: 500, longestNoticeRetryMs: 5_000 };

process.once('message', async ({ key, ...options }) => {
  const institution = await startInstitution({
    ...options,
    key: Buffer.from(key, 'base64'),
    clock: systemClock,
    control: true,
    delays: DELAYS,
  });
  const stop = () => institution.stop().then(() => process.exit(0));
  for (const signal of ['SIGTERM', 'disconnect']) process.once(signal, stop);
  process.send({ url: institution.url });
});
