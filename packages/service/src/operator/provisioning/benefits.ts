import { readCodes } from '../../fulfilment/code-file.js';
import type { FulfilmentKind } from '../../fulfilment/fulfilment.js';
import {
  type FulfilmentRow,
  findFulfilment,
  lockBenefitCode,
  storeFulfilment,
  storeLowStock,
} from '../../fulfilment/fulfilment-settings-sql.js';
import { openPoolCodes } from '../../fulfilment/pool-codes.js';
import { insertPoolCodes, takePoolCodes } from '../../fulfilment/pool-codes-sql.js';
import type { Queryable } from '../../platform/db/database.js';
import { findStoredKey, keyPlaces, openStoredKey, wrapStoredKey } from '../../platform/secrets/stored-keys.js';
import { MAX_SERVED_CLAIMS, servePoolClaims } from '../../subscriptions/steps/benefits/serve-pool-claims.js';
import { nowInWholeSeconds } from '../../subscriptions/steps/benefits/settle-claim.js';
import { recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, type Operator, type OperatorWithClock, refusal } from '../operator.js';
import { requireCode, requireFound, requireInteger, requireOneOf } from '../rules.js';
import { requirePeerUrl } from './addresses/peer-url.js';
import { type BenefitFulfilmentView, describeBenefits } from './benefits-sql.js';

const KINDS = ['generated', 'pool', 'supplier'] as const;
const KEY_BYTES = 32;

export interface SetFulfilmentInput {
  readonly benefitCode: string;
  readonly kind: string;
  /** The supplier's URL. Unset: it stays unchanged. */
  readonly supplierUrl?: string;
  /** The key shared with the supplier. Unset: it stays unchanged. */
  readonly supplierKey?: Uint8Array;
  /** Instead of `supplierKey`: the key, wrapped for `supplierUrl` when the change was requested. */
  readonly wrappedKey?: string;
}

/**
 * Sets where the codes for new claims of a benefit come from. Waiting claims keep their source, so a supplier's URL and
 * key stay stored after a change.
 */
export async function setFulfilment(
  operator: Operator,
  { benefitCode: subject, kind: asked, supplierUrl: url, supplierKey, wrappedKey }: SetFulfilmentInput,
): Promise<Changed<BenefitFulfilmentView>> {
  requireCode('the benefit code', subject);
  const kind = requireOneOf('the kind', asked, KINDS).toUpperCase() as FulfilmentKind;
  if (kind !== 'SUPPLIER' && (url !== undefined || supplierKey !== undefined)) {
    throw refusal('only-supplier-has-address')`an address and a key can only be set for a supplier`;
  }
  if (supplierKey !== undefined && supplierKey.length !== KEY_BYTES) {
    throw refusal('supplier-key-length')`the key of a supplier must have ${KEY_BYTES} bytes`;
  }
  const newUrl = url === undefined ? undefined : requirePeerUrl('the supplier address', url, operator.environment);
  return inTransaction(operator, async (tx) => {
    await lockBenefitCode(tx, subject);
    const former = (await findFulfilment(tx, subject)) ?? DEFAULT_FULFILMENT;
    const toUrl = newUrl ?? former.supplierUrl;
    const places = [former.supplierUrl, toUrl].map((at) => keyPlaces.supplier(subject, at ?? ''));
    const formerKey =
      former.supplierKey === null ? undefined : await findStoredKey(tx, operator.vault, former.supplierKey, places);
    const key =
      wrappedKey === undefined
        ? supplierKey
        : await openStoredKey(tx, operator.vault, wrappedKey, keyPlaces.supplier(subject, toUrl ?? ''));
    const newKey = key !== undefined && !(formerKey && Buffer.from(formerKey).equals(key));
    const toKey = key ?? formerKey;
    const to: FulfilmentRow = { kind, supplierUrl: toUrl, supplierKey: former.supplierKey };
    if (kind === 'SUPPLIER' && (toUrl === null || toKey === undefined)) {
      throw refusal('supplier-needs-address')`a supplier needs an address and a key`;
    }
    const changed = newKey || to.kind !== former.kind || to.supplierUrl !== former.supplierUrl;
    if (changed) {
      const isRewrapped = toUrl !== null && toKey !== undefined;
      const place = keyPlaces.supplier(subject, toUrl ?? '');
      const stored = isRewrapped ? await wrapStoredKey(tx, operator.vault, toKey, place) : null;
      await storeFulfilment(tx, subject, { ...to, supplierKey: stored });
      const detail = { from: auditedFields(former), to: auditedFields(to), ...(newKey ? { newKey } : {}) };
      await recordAudit(tx, { actor: operator.actor, action: 'benefit.set-fulfilment', subject, detail });
    }
    return { ...(await requireBenefit(tx, subject)), changed };
  });
}

const DEFAULT_FULFILMENT: FulfilmentRow = { kind: 'GENERATED', supplierUrl: null, supplierKey: null };

const auditedFields = ({ kind, supplierUrl }: FulfilmentRow) => ({ kind, supplierUrl });

export type ImportedCodes = Awaited<ReturnType<typeof importCodes>>;

/** Encrypting so many codes takes about 20 ms, in which the node does nothing else. */
const CODES_AT_ONCE = 1_000;

/**
 * Imports a file of codes, completely or not at all. Waiting claims get codes first, oldest claim first; `served` is
 * the number of these claims. `knownBefore` counts codes that an earlier import already stored. `repeated` counts
 * duplicates within the file.
 */
export async function importCodes(
  operator: OperatorWithClock,
  { benefitCode: subject, file }: { readonly benefitCode: string; readonly file: AsyncIterable<Uint8Array> },
) {
  requireCode('the benefit code', subject);
  const { codes, repeated } = await readCodes(file);
  const { clock, vault } = operator;
  return inTransaction(operator, async (tx) => {
    await lockBenefitCode(tx, subject);
    const pool = await openPoolCodes(tx, vault);
    let imported = 0;
    for (let start = 0; start < codes.length; start += CODES_AT_ONCE) {
      const some = codes.slice(start, start + CODES_AT_ONCE);
      imported += await insertPoolCodes(
        tx,
        subject,
        some.map((code) => pool.seal(subject, code)),
      );
    }
    let served = 0;
    for (let turn = MAX_SERVED_CLAIMS; turn === MAX_SERVED_CLAIMS; served += turn) {
      turn = await servePoolClaims(tx, vault, subject, nowInWholeSeconds(clock));
    }
    const done = { imported, knownBefore: codes.length - imported, repeated, served };
    await recordAudit(tx, { actor: operator.actor, action: 'benefit.import-codes', subject, detail: done });
    return { ...(await requireBenefit(tx, subject)), ...done };
  });
}

const MAX_LOW_STOCK = 10_000_000;

/** Sets the number of codes below which an alert is raised. Null turns the alert off. */
export async function setLowStock(
  operator: Operator,
  { benefitCode: subject, lowStock }: { readonly benefitCode: string; readonly lowStock: number | null },
): Promise<Changed<BenefitFulfilmentView>> {
  requireCode('the benefit code', subject);
  if (lowStock !== null) requireInteger('the number of codes', lowStock, 1, MAX_LOW_STOCK);
  return inTransaction(operator, async (tx) => {
    await lockBenefitCode(tx, subject);
    const former = await requireBenefit(tx, subject);
    if (former.kind !== 'POOL') throw refusal('not-from-pool')`${subject} does not take its codes from the pool`;
    const changed = await storeLowStock(tx, subject, lowStock);
    if (changed) {
      const detail = { from: former.lowStock, to: lowStock };
      await recordAudit(tx, { actor: operator.actor, action: 'benefit.set-low-stock', subject, detail });
    }
    return { ...former, lowStock, changed };
  });
}

/**
 * For a restored database: withdraws the oldest codes of the pool. Users may have received these codes by claims that
 * were lost.
 */
export async function withdrawCodes(
  operator: Operator,
  { benefitCode: subject, codes }: { readonly benefitCode: string; readonly codes: number },
): Promise<BenefitFulfilmentView & { readonly withdrawn: number }> {
  requireInteger('the number of codes', codes, 1, MAX_LOW_STOCK);
  return inTransaction(operator, async (tx) => {
    await requireBenefit(tx, subject);
    const { length: withdrawn } = await takePoolCodes(tx, subject, Array(codes).fill('withdrawn'));
    const detail = { withdrawn };
    await recordAudit(tx, { actor: operator.actor, action: 'benefit.withdraw-codes', subject, detail });
    return { ...(await requireBenefit(tx, subject)), withdrawn };
  });
}

export async function listBenefits({ database }: Operator): Promise<BenefitFulfilmentView[]> {
  return describeBenefits(database);
}

export async function showBenefit(
  { database }: Operator,
  { benefitCode }: { readonly benefitCode: string },
): Promise<BenefitFulfilmentView> {
  return requireBenefit(database, benefitCode);
}

export async function requireBenefit(db: Queryable, benefitCode: string): Promise<BenefitFulfilmentView> {
  return requireFound(await describeBenefits(db, benefitCode), 'benefit', benefitCode);
}
