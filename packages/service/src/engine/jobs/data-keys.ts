import { recordAudit } from '../../operator/audit/audit.js';
import { resealNextRows } from '../../subscriptions/steps/reseal.js';
import type { JobDeps } from '../job-deps.js';

type DataKeyDeps = Pick<JobDeps, 'database' | 'vault' | 'log' | 'stopping'>;

/** Continues the replacement of data keys. Another node continues if this one dies. */
export async function replaceDataKeys({ database, vault, log, stopping }: DataKeyDeps): Promise<void> {
  for (let isMore = true; isMore && !stopping?.(); ) {
    const step = await database.transaction(async (tx) => {
      const done = await resealNextRows(tx, vault);
      if (done && done.did !== 'resealed') {
        const entry = { actor: 'engine', action: `channel.data-key-${done.did}`, subject: done.appId, detail: {} };
        await recordAudit(tx, entry);
      }
      return done;
    });
    if (step?.unreadable) {
      const { appId, unreadable } = step;
      log.warn(
        { appId, unreadable },
        'sealed values open under neither data key of their channel; they stay as they are',
      );
    }
    isMore = step !== undefined;
  }
}
