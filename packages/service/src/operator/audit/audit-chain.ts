import { columns, type Queryable, type RowOf, statement } from '../../platform/db/database.js';
import { BusyError, type Operator, refusal } from '../operator.js';

export type VerifiedAudit = Awaited<ReturnType<typeof verifyAudit>>;

const LINK_COLUMNS = columns({ chainNo: 'bigint', chain: 'bytea', fits: 'boolean' });
type Link = RowOf<typeof LINK_COLUMNS>;

const READ_LINKS = statement({
  text: `select a.chain_no as "chainNo", a.chain,
       a.chain = audit_link(lag(a.chain, 1, $2) over w, a.chain_no, a.audit_id, a.at, a.actor, a.address, a.action,
         a.subject, a.detail)
         and a.chain_no = lag(a.chain_no, 1, $1) over w + 1 as fits
     from (select * from audit_log where chain_no > $1 order by chain_no limit $3) a
     window w as (order by a.chain_no) order by a.chain_no`,
  parameters: ['bigint', 'bytea', 'bigint'],
  columns: LINK_COLUMNS,
});

const FIND_HEAD = statement({
  text: `select h.chain_no as "chainNo", h.chain,
       not exists (select from audit_log a where a.chain_no is null or a.chain_no > h.chain_no) as fits
     from audit_head h`,
  parameters: [],
  columns: LINK_COLUMNS,
});

const AT_ONCE = 5_000;

/** The key of the advisory lock ('audi' in ASCII), which is held until the transaction ends. */
const VERIFYING_LOCK = 0x61756469;
const LOCK_VERIFYING = statement({
  text: 'select pg_try_advisory_xact_lock($1) as taken',
  parameters: ['bigint'],
  columns: columns({ taken: 'boolean' }),
});

/**
 * Verifies the whole hash chain in one snapshot. An installation runs only one verification at a time: PostgreSQL
 * hashes every entry, so several runs would take CPU and connections from the API. `brokenAt` is the first entry that
 * is missing or has a wrong hash. Operators should note `last` elsewhere: comparing it later reveals a rewritten chain.
 */
export async function verifyAudit({ database }: Operator) {
  return database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    const [lock] = await tx.query(LOCK_VERIFYING, [VERIFYING_LOCK]);
    if (lock?.taken !== true) {
      throw refusal(
        'audit-being-verified',
        BusyError,
      )`the audit log is already being verified; try again when that has finished`;
    }
    const [head] = await tx.query(FIND_HEAD);
    let before: { readonly chainNo: number; readonly chain: Buffer } = { chainNo: 0, chain: Buffer.alloc(0) };
    let entries = 0;
    let brokenAt: string | null = null;
    for (let links = await readLinks(tx, before); links.length > 0; links = await readLinks(tx, before)) {
      const wrong = links.find(({ fits }) => !fits);
      brokenAt ??= wrong === undefined ? null : String(wrong.chainNo);
      entries += links.length;
      before = links.at(-1) ?? before;
    }
    const isWhole = head?.fits === true && head.chainNo === before.chainNo && head.chain.equals(before.chain);
    if (!isWhole) brokenAt ??= String(before.chainNo + 1);
    return { entries, last: { chainNo: before.chainNo, hash: before.chain.toString('hex') }, brokenAt };
  });
}

async function readLinks(tx: Queryable, after: { readonly chainNo: number; readonly chain: Buffer }): Promise<Link[]> {
  return tx.query(READ_LINKS, [after.chainNo, after.chain, AT_ONCE]);
}
