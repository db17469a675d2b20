import {
  columns,
  declareFind,
  declareRequire,
  declareWrite,
  type Queryable,
  type RowOf,
  type Sign,
} from '../../platform/db/database.js';
import { epochMicros, fromEpochMicros } from '../../platform/db/time-sql.js';

/** The number and hash of an entry. */
export const LINK = columns({ chainNo: 'bigint', chain: 'bytea' });
export type Link = RowOf<typeof LINK>;

/** Returns the seal of an entry. The entry's hash covers all earlier entries, so the seal protects them too. */
export const sealOf = (sign: Sign, { chainNo, chain }: Link): Promise<Buffer> =>
  sign(`entry ${chainNo} ${chain.toString('hex')}`);

/** Returns the seal that replaces the salt of an entry's texts when they are erased. */
export const sealOfErasedTexts = (sign: Sign, { chainNo, chain }: Link): Promise<Buffer> =>
  sign(`erased texts ${chainNo} ${chain.toString('hex')}`);

/**
 * Stores a seal. Overwrites the seal of a removed entry with the same number. Otherwise a database writer who removes
 * entries could block the actions of operators.
 */
export const storeSeal = declareWrite({
  text: 'insert into audit_seals (chain_no, seal) values ($1, $2) on conflict (chain_no) do update set seal = excluded.seal',
  parameters: ['bigint', 'bytea'],
});

/** Returns the number of the first seal, and the number of the last seal if the log ends before it. */
export const findSealedRange = declareRequire({
  text: `select min(chain_no) as first, case when max(chain_no) > (select max(chain_no) from audit_log) then max(chain_no) end as lost
     from audit_seals`,
  parameters: [],
  columns: columns({ first: 'bigint?', lost: 'bigint?' }),
});

/** Finds an entry by its number. Returns the latest if a database writer has added another with the same number. */
export const findLink = declareFind({
  text: 'select chain_no as "chainNo", chain from audit_log where chain_no = $1 order by audit_id desc limit 1',
  parameters: ['bigint'],
  columns: LINK,
});

/** The position up to which the log was verified. Times are in Unix microseconds. */
export interface Checkpoint extends Link {
  readonly sealedFrom: number | null;
  readonly scheduledAt: number | null;
  readonly wholeAt: number | null;
}

const findStored = declareFind({
  text: `select chain_no as "chainNo", chain, sealed_from as "sealedFrom", ${epochMicros('scheduled_at')} as "scheduledAt",
       ${epochMicros('whole_at')} as "wholeAt", seal from audit_checkpoint`,
  parameters: [],
  columns: columns({
    chainNo: 'bigint',
    chain: 'bytea',
    sealedFrom: 'bigint?',
    scheduledAt: 'bigint?',
    wholeAt: 'bigint?',
    seal: 'bytea',
  }),
});

const storeRow = declareWrite({
  text: `insert into audit_checkpoint (chain_no, chain, sealed_from, scheduled_at, whole_at, seal)
     values ($1, $2, $3, ${fromEpochMicros('$4')}, ${fromEpochMicros('$5')}, $6)
     on conflict (only_row) do update set chain_no = excluded.chain_no, chain = excluded.chain,
       sealed_from = excluded.sealed_from, scheduled_at = excluded.scheduled_at, whole_at = excluded.whole_at,
       seal = excluded.seal`,
  parameters: ['bigint', 'bytea', 'bigint?', 'bigint?', 'bigint?', 'bytea'],
});

const checkpointText = ({ chainNo, chain, sealedFrom, scheduledAt, wholeAt }: Checkpoint) =>
  `checkpoint ${chainNo} ${chain.toString('hex')} ${sealedFrom} ${scheduledAt} ${wholeAt}`;

/** Returns undefined if there is no checkpoint or its seal is wrong: then the whole log is verified. */
export async function findCheckpoint(tx: Queryable, sign: Sign): Promise<Checkpoint | undefined> {
  const stored = await findStored(tx);
  return stored?.seal.equals(await sign(checkpointText(stored))) ? stored : undefined;
}

export async function storeCheckpoint(tx: Queryable, sign: Sign, checkpoint: Checkpoint): Promise<void> {
  const { chainNo, chain, sealedFrom, scheduledAt, wholeAt } = checkpoint;
  await storeRow(tx, chainNo, chain, sealedFrom, scheduledAt, wholeAt, await sign(checkpointText(checkpoint)));
}
