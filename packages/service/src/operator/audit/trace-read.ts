import { hmacSha256 } from '@perennial/wire';
import { columns, type Queryable } from '../../platform/db/database.js';
import { declareRequire } from '../../platform/db/declared.js';
import { readOrCreateInstallationKey } from '../../platform/secrets/keyed-hasher.js';
import { inTransaction, type Operator, OperatorError, refusal } from '../operator.js';
import { type AuditEntry, recordAudit } from './audit.js';

/**
 * The actions that are limited per operator and hour: reads of personal data and of codes, and actions that put load on
 * a bridge or fill a table. The audit log records each of them. 60 searches by mobile number are enough: a support call
 * takes at least a minute. Guessing four masked digits takes about 5,000 searches, which takes more than 80 hours and
 * leaves an audit entry for each.
 */
const MOST_PER_HOUR = {
  'search.mobile': 60,
  'search.card': 300,
  'search.code': 60,
  'user.open': 300,
  'order.unmask': 60,
  'orders.export': 20,
  'debits.export': 20,
  'refunds.export': 20,
  'code.reveal': 60,
  'code.replace': 20,
  'link.create': 60,
  'payment-channel.test': 60,
  'events.test': 60,
  'bulk.prepare': 120,
} as const;

/** The same read within this time, for example by a page that refreshes itself, is recorded once. */
const SAME_READ_MINUTES = 10;

export class TooManyReads extends OperatorError {}

const findReads = declareRequire({
  text: `select count(*)::integer as reads,
       coalesce(bool_or(detail ->> 'hash' = $3 and at > now() - interval '${SAME_READ_MINUTES} minutes'), false) as same
     from audit_log where actor = $1 and action = $2 and at > now() - interval '1 hour'`,
  parameters: ['text', 'text', 'text'],
  columns: columns({ reads: 'integer', same: 'boolean' }),
});

/**
 * Records a read of personal data. Must run before the data is returned. `what` is stored only as a keyed hash, which
 * is the same for the same value. Throws if the operator has made too many such reads in the last hour.
 */
export async function traceRead(
  operator: Operator,
  action: keyof typeof MOST_PER_HOUR,
  subject: string,
  what: string,
  more: AuditEntry['detail'] = {},
): Promise<void> {
  const { actor, vault } = operator;
  await inTransaction(operator, async (tx) => {
    const key = await readOrCreateInstallationKey(tx, vault, 'reads');
    const hash = Buffer.from(hmacSha256(key, `${action} ${what}`))
      .toString('hex')
      .slice(0, 16);
    if ((await findReads(tx, actor, action, hash)).same) return;
    await recordLimited(tx, { actor, action, subject, detail: { hash, ...more } });
  });
}

/**
 * Writes the entry of a limited action. Throws if the operator has done it too often in the last hour. Counts after the
 * insert, which locks the audit log, so that concurrent actions cannot exceed the limit.
 */
export async function recordLimited(
  tx: Queryable,
  entry: AuditEntry & { readonly action: keyof typeof MOST_PER_HOUR },
): Promise<void> {
  await recordAudit(tx, entry);
  const most = MOST_PER_HOUR[entry.action];
  if ((await findReads(tx, entry.actor, entry.action, '')).reads > most)
    throw refusal('reads-used-up', TooManyReads)`you may do this ${most} times an hour`;
}
