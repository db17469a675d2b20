// The reference institution as a separate process, with its ledger readable on this machine.

import { startInstitution } from '@perennial/reference-peers';
import { systemClock } from '../../dist/platform/clock.js';

/** Pending debits settle soon, so that their notices fall into the fault. */
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
