import { createHash } from 'node:crypto';
import { formatTime } from '@perennial/wire';
import {
  columns,
  declareFind,
  declareList,
  declareRequire,
  joinColumns,
  type Queryable,
  type RowOf,
  type Sign,
  sqlState,
  type Transaction,
} from '../../platform/db/database.js';
import { epochMicros } from '../../platform/db/time-sql.js';
import { BusyError, inTransaction, type Operator, refusal } from '../operator.js';
import { AUDIT_TEXT_DAYS, hashTexts, recordAudit } from './audit.js';
import {
  type Checkpoint,
  findCheckpoint,
  findLink,
  findSealedRange,
  LINK,
  type Link,
  sealOf,
  sealOfErasedTexts,
  storeCheckpoint,
  storeSeal,
} from './seals-sql.js';

const ENTRY = joinColumns(
  LINK,
  columns({
    auditId: 'bigint',
    content: 'text',
    seal: 'bytea?',
    /** The hash of the texts, which is part of the chained detail. */
    textsHash: 'text?',
    /** Null if the entry has no texts, or they were erased or deleted. */
    texts: 'text?',
    /** Null if there is no row of texts. A seal if the texts were erased. */
    salt: 'bytea?',
    /** True if housekeeping may have deleted the texts. */
    isPastTexts: 'boolean',
  }),
);
type Entry = RowOf<typeof ENTRY>;

/**
 * Returns the entries after a number and id. The id is needed, because a database writer may give two entries the same
 * number. `content` is the text that `audit_link` hashes. This process hashes it again, because a database writer may
 * have replaced that function.
 */
const listEntries = declareList({
  text: `select a.chain_no as "chainNo", a.chain, a.audit_id as "auditId", s.seal,
       a.detail ->> 'textsHash' as "textsHash", t.texts, t.salt,
       a.at <= now() - interval '${AUDIT_TEXT_DAYS} days' as "isPastTexts",
       json_build_array(a.chain_no, a.audit_id, to_char(a.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), a.actor,
         a.address, a.action, a.subject, a.detail)::text as content
     from (select * from audit_log where (chain_no, audit_id) > ($1, $2) order by chain_no, audit_id limit $3) a
       left join audit_seals s using (chain_no) left join audit_texts t using (audit_id)
     order by a.chain_no, a.audit_id`,
  parameters: ['bigint', 'bigint', 'bigint'],
  columns: ENTRY,
});

/** `fits` is false if the log has an entry after the head, or an entry without a number. */
const findHead = declareFind({
  text: `select h.chain_no as "chainNo", h.chain,
       not exists (select from audit_log a where a.chain_no is null or a.chain_no > h.chain_no) as fits
     from audit_head h`,
  parameters: [],
  columns: joinColumns(LINK, columns({ fits: 'boolean' })),
});

/** Erasures of earlier releases deleted the rows of texts. Their audit entries do not count the erased texts. */
const findLastUnsealedErasure = declareRequire({
  text: `select coalesce(max(chain_no), 0) as "chainNo" from audit_log
     where action = 'user.erase' and not detail ? 'auditTextsErased'`,
  parameters: [],
  columns: columns({ chainNo: 'bigint' }),
  value: ({ chainNo }) => chainNo,
});

/** Stops other transactions from adding entries. */
const lockHead = declareFind({ text: 'select from audit_head for update', parameters: [] });

const readNow = declareRequire({
  text: `select ${epochMicros('now()')} as micros`,
  parameters: [],
  columns: columns({ micros: 'bigint' }),
  value: ({ micros }) => micros,
});

/** The number of entries that this process hashes without a pause. It is small, so that requests do not wait. */
const AT_ONCE = 500;

/** The key of the advisory lock ('audi' in ASCII), which is held until the transaction ends. */
const VERIFYING_LOCK = 0x61756469;
const lockVerifying = declareRequire({
  text: `select pg_try_advisory_xact_lock(${VERIFYING_LOCK}) as taken`,
  parameters: [],
  columns: columns({ taken: 'boolean' }),
  value: ({ taken }) => taken,
});

/**
 * changed: the entry or one before it was changed or removed. unsealed: the entry has no seal, although an earlier
 * entry has one. replaced: the seal is wrong, or this number has another entry than a node saw
 * before.
 */
export type AuditProblem = 'changed' | 'unsealed' | 'replaced';
interface Fault {
  readonly at: number;
  readonly problem: AuditProblem;
}

/** The end of the log, with a seal. A copy that is stored elsewhere reveals a log that was shortened or replaced. */
export interface AuditHead {
  readonly chainNo: number;
  readonly hash: string;
  /** The first sealed entry. Releases without seals wrote the entries before it. */
  readonly sealedFrom: number | null;
  readonly at: string;
  readonly seal: string;
}

const sealHead = async (sign: Sign, { chainNo, hash, sealedFrom, at }: Omit<AuditHead, 'seal'>) =>
  (await sign(`head ${chainNo} ${hash} ${sealedFrom} ${at}`)).toString('hex');

export interface VerifyAuditInput {
  /** Verifies from the first entry, not from the last verified one. */
  readonly all?: boolean | undefined;
  /** A head that was noted elsewhere. The whole log is verified and must contain it. */
  readonly head?: AuditHead | undefined;
  /** An entry that this process has seen, which the log must still contain. */
  readonly seen?: Link | undefined;
  /** True if a node verifies the log on its schedule. */
  readonly isScheduled?: boolean;
}

export type VerifiedAudit = Awaited<ReturnType<typeof verifyAudit>>;

const BEGINNING: Link = { chainNo: 0, chain: Buffer.alloc(0) };

/**
 * Verifies hashes and seals in one snapshot, from the last verified entry on. An installation runs only one
 * verification at a time. `brokenAt` is the first entry that is missing or wrong.
 */
export async function verifyAudit({ database }: Pick<Operator, 'database'>, asked: VerifyAuditInput = {}) {
  const { result, next } = await database.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    if (!(await lockVerifying(tx))) {
      throw refusal(
        'audit-being-verified',
        BusyError,
      )`the audit log is already being verified; try again when that has finished`;
    }
    return verifyInTransaction(tx, asked);
  });
  if (next) {
    await database
      .transaction((tx) => storeCheckpoint(tx, requireSign(tx), next))
      .catch((error: unknown) => {
        // A standby cannot store the checkpoint.
        if (sqlState(error) !== READ_ONLY_STATE) throw error;
      });
  }
  return result;
}

const READ_ONLY_STATE = '25006';

async function verifyInTransaction(
  tx: Transaction,
  { all = false, head, seen, isScheduled = false }: VerifyAuditInput,
) {
  const sign = requireSign(tx);
  // The head is read from a file, which may contain anything.
  if (head !== undefined && (!(head instanceof Object) || head.seal !== (await sealHead(sign, head)))) {
    throw refusal(
      'audit-head-foreign',
    )`the file is not a head of this installation, or the file or the key of the log was changed`;
  }
  const now = await readNow(tx);
  const former = await findCheckpoint(tx, sign);
  const sealed = await findSealedRange(tx);
  const sealedFrom = least([sealed.first, former?.sealedFrom, head?.sealedFrom]);
  const noted = [former, seen, head && { chainNo: head.chainNo, chain: Buffer.from(head.hash, 'hex') }];
  const lost = (await findLost(tx, noted)) ?? sealed.lost ?? undefined;
  const isWhole =
    all || head !== undefined || former === undefined || lost !== undefined || former.sealedFrom !== sealed.first;
  const { last, checked, ...found } = await verifyEntries(tx, sign, isWhole ? BEGINNING : former, sealedFrom);
  const replaced: Fault | undefined = lost ? { at: Math.min(lost, last.chainNo + 1), problem: 'replaced' } : undefined;
  const fault = found.fault ?? replaced;
  const wholeAt = isWhole && !fault ? now : (former?.wholeAt ?? null);
  const unsealedHead = {
    chainNo: last.chainNo,
    hash: last.chain.toString('hex'),
    sealedFrom,
    at: formatTime(now / 1000),
  };
  const scheduledAt = isScheduled ? now : (former?.scheduledAt ?? null);
  const reached = fault ? former : { ...last, sealedFrom, wholeAt };
  const next: Checkpoint | undefined = reached && { ...reached, scheduledAt };
  const result = {
    entries: (isWhole ? 0 : (former?.chainNo ?? 0)) + checked,
    /** The number of entries that this run has verified. Earlier runs have verified the other entries. */
    checked,
    last: { chainNo: last.chainNo, hash: unsealedHead.hash },
    sealedFrom,
    /** When the log was last verified from its first entry. */
    wholeAt: wholeAt === null ? null : formatTime(wholeAt / 1000),
    brokenAt: fault ? String(fault.at) : null,
    problem: fault?.problem ?? null,
    faults: fault ? Math.max(found.faults, 1) : 0,
    head: fault ? null : ({ ...unsealedHead, seal: await sealHead(sign, unsealedHead) } satisfies AuditHead),
  };
  return { result, next };
}

const least = (numbers: readonly (number | null | undefined)[]): number | null => {
  const given = numbers.filter((one) => one !== null && one !== undefined);
  return given.length === 0 ? null : Math.min(...given);
};

/** Returns the number of an entry that was seen before and is now missing or has a different hash. */
async function findLost(tx: Queryable, noted: readonly (Link | undefined)[]): Promise<number | undefined> {
  for (const one of noted) {
    if (!one || one.chainNo === 0) continue;
    const found = await findLink(tx, one.chainNo);
    if (!found?.chain.equals(one.chain)) return one.chainNo;
  }
  return undefined;
}

/** Verifies all entries after `start`, up to the head. Continues after a fault, to count the faults. */
async function verifyEntries(tx: Queryable, sign: Sign, start: Link, sealedFrom: number | null) {
  const lastUnsealedErasure = await findLastUnsealedErasure(tx);
  let last = start;
  let checked = 0;
  let fault: Fault | undefined;
  let faults = 0;
  const note = (at: number, problem: AuditProblem) => {
    fault ??= { at, problem };
    faults += 1;
  };
  for (let lastId = Number.MAX_SAFE_INTEGER; ; ) {
    const entries = await listEntries(tx, last.chainNo, lastId, AT_ONCE);
    if (entries.length === 0) break;
    for (const entry of entries) {
      const problem = (await textsFit(sign, entry, lastUnsealedErasure))
        ? await judge(sign, entry, last, sealedFrom)
        : 'changed';
      if (problem) note(entry.chainNo, problem);
      last = entry;
      lastId = entry.auditId;
    }
    checked += entries.length;
  }
  const head = await findHead(tx);
  const isHead = head?.fits && head.chainNo === last.chainNo && head.chain.equals(last.chain);
  if (!isHead) note(last.chainNo + 1, 'changed');
  return { last, checked, fault, faults };
}

/** Returns false if the texts were changed or added, or are missing and neither erased nor old. */
async function textsFit(sign: Sign, entry: Entry, lastUnsealedErasure: number): Promise<boolean> {
  const { chainNo, salt, texts, textsHash, isPastTexts } = entry;
  if (salt === null) return textsHash === null || isPastTexts || chainNo < lastUnsealedErasure;
  if (texts !== null) return hashTexts(salt, texts) === textsHash;
  return salt.equals(await sealOfErasedTexts(sign, entry));
}

async function judge(
  sign: Sign,
  entry: Entry,
  before: Link,
  sealedFrom: number | null,
): Promise<AuditProblem | undefined> {
  const hash = createHash('sha256').update(before.chain).update(entry.content).digest();
  if (entry.chainNo !== before.chainNo + 1 || !hash.equals(entry.chain)) return 'changed';
  if (entry.seal) return entry.seal.equals(await sealOf(sign, entry)) ? undefined : 'replaced';
  return sealedFrom !== null && entry.chainNo >= sealedFrom ? 'unsealed' : undefined;
}

function requireSign({ sign }: Queryable): Sign {
  if (!sign) throw new Error('the database was opened without the key of the audit log');
  return sign;
}

const brokenLog = (at: number | string | null) =>
  refusal('audit-broken')`the audit log is broken at number ${at ?? ''}: see audit verify --all`;

/** Verifies the log and returns its end, with a seal. */
export async function readAuditHead(operator: Operator): Promise<AuditHead> {
  const { head, brokenAt } = await verifyAudit(operator);
  if (!head) throw brokenLog(brokenAt);
  return head;
}

/**
 * A node skips its verification if the last scheduled one is more recent than this, in microseconds. The value is less
 * than the ten minutes between a node's verifications.
 */
const SCHEDULE_MICROS = 540e6;
const DAY_MICROS = 86_400e6;

/**
 * Verifies the log, once a day from the first entry. Returns undefined if another node has just verified it, or if the
 * database cannot sign. Throws BusyError if another session holds the lock of the verification.
 */
export async function verifyAuditOnSchedule(
  operator: Pick<Operator, 'database'>,
  seen: Link | undefined,
): Promise<VerifiedAudit | undefined> {
  const state = await operator.database.transaction(
    async (tx) => tx.sign && { former: await findCheckpoint(tx, tx.sign), now: await readNow(tx) },
  );
  if (!state) return undefined;
  const { former, now } = state;
  const scheduledAt = former?.scheduledAt ?? 0;
  if (now - scheduledAt < SCHEDULE_MICROS) return undefined;
  // Counts full days from the last verification of the whole log that found no fault. A fault leaves that time
  // unchanged.
  const countDays = (at: number) => Math.max(0, Math.floor((at - (former?.wholeAt ?? 0)) / DAY_MICROS));
  return verifyAudit(operator, { all: countDays(now) > countDays(scheduledAt), seen, isScheduled: true });
}

/**
 * Seals the entries that nodes of an earlier release have written after the first seal. The operator vouches for them.
 * Throws if anything else is wrong with the log.
 */
export async function sealAudit(operator: Operator) {
  return inTransaction(operator, async (tx) => {
    const sign = requireSign(tx);
    await lockHead(tx);
    const { first } = await findSealedRange(tx);
    const { fault, last } = await verifyEntries(tx, sign, BEGINNING, null);
    if (fault) throw brokenLog(fault.at);
    const unsealed = await listUnsealed(tx, first ?? last.chainNo + 1);
    for (const link of unsealed) await storeSeal(tx, link.chainNo, await sealOf(sign, link));
    const [from, to] = [unsealed[0]?.chainNo, unsealed.at(-1)?.chainNo];
    if (from !== undefined) {
      const detail = { entries: unsealed.length, from, to };
      await recordAudit(tx, { actor: operator.actor, action: 'audit.seal', subject: 'audit log', detail });
    }
    return { entries: unsealed.length, from: from ?? null, to: to ?? null, changed: unsealed.length > 0 };
  });
}

const listUnsealed = declareList({
  text: `select a.chain_no as "chainNo", a.chain from audit_log a left join audit_seals s using (chain_no)
     where a.chain_no >= $1 and s.seal is null order by a.chain_no`,
  parameters: ['bigint'],
  columns: LINK,
});
