import { IDEMPOTENCY_WINDOW_MS } from '@perennial/wire';
import type { Database } from '../../db/database.js';
import { inSteps, STEP } from './steps.js';

export const deleteOldAnswers = (database: Database): Promise<number> =>
  inSteps(async () => {
    const rows = await database.query(
      `delete from idempotency where ctid = any(array(
         select ctid from idempotency where created_at <= now() - $1::double precision * interval '1 ms'
         limit $2 for update skip locked)) returning 1`,
      [IDEMPOTENCY_WINDOW_MS, STEP],
    );
    return rows.length;
  });

/** Codes are counted over a day; another day is for nodes whose clocks differ. */
export const deleteOldSends = (database: Database): Promise<number> =>
  inSteps(async () => {
    const rows = await database.query(
      `delete from sms_sends where ctid = any(array(
         select ctid from sms_sends where sent_at <= now() - interval '2 days' limit $1 for update skip locked))
       returning 1`,
      [STEP],
    );
    return rows.length;
  });
