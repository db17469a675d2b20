import { describePaymentChannels } from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import {
  type DifferenceView,
  findStoredDifferences,
  lockDifference,
  storeClosedDifference,
} from '../../reconciliation/differences-sql.js';
import { reconcile } from '../../reconciliation/reconcile.js';
import { findReconciliations, type ReconciliationView } from '../../reconciliation/reconciliation-runs-sql.js';
import { readStatementFromGateway, withStatement } from '../../reconciliation/statement.js';
import { readStatementFromCsv } from '../../reconciliation/statement-csv.js';
import { recordAudit } from '../audit.js';
import {
  type Changed,
  inTransaction,
  type Operator,
  OperatorError,
  type OperatorWithClock,
  type OperatorWithGateways,
} from '../operator.js';
import { createNotFound, requireFound, requireInteger, requireName, requirePastDay } from '../rules.js';

export interface RunReconciliationInput {
  readonly paymentChannelCode: string;
  /** Of Asia/Shanghai, yyyy-MM-dd. */
  readonly day: string;
  /** The bytes of a statement file. Unset: the bridge is asked for its statement. */
  readonly csv?: AsyncIterable<Uint8Array>;
}

/**
 * Compares an institution's statement of a day with the records of the service. May be repeated, with the same file or
 * another.
 */
export async function runReconciliation(
  operator: OperatorWithGateways,
  { paymentChannelCode, day: asked, csv }: RunReconciliationInput,
): Promise<ReconciliationView> {
  const { database, gateways, clock, actor } = operator;
  const day = requirePastDay(asked, clock.now());
  const found = await describePaymentChannels(database, paymentChannelCode);
  const paymentChannel = requireFound(found, 'payment channel', paymentChannelCode);
  if (csv === undefined && paymentChannel.gateway !== 'bridge') {
    throw new OperatorError(`the ${paymentChannel.gateway} gateway has no statements; give a file`);
  }
  const lines =
    csv === undefined
      ? readStatementFromGateway(await gateways.of(paymentChannelCode), day)
      : readStatementFromCsv(csv);
  const source = csv === undefined ? 'GATEWAY' : 'FILE';
  return withStatement(lines, day, (statement) =>
    inTransaction(operator, async (tx) => {
      const run = { paymentChannelCode, day, source, runBy: actor, runAt: clock.now() } as const;
      const done = await reconcile(tx, run, statement);
      const detail = { day, source, lines: done.lines, differences: done.differences };
      await recordAudit(tx, { actor, action: 'reconciliation.run', subject: paymentChannelCode, detail });
      return done;
    }),
  );
}

export interface ListReconciliationsInput {
  /** Unset: of all payment channels. */
  readonly paymentChannelCode?: string;
  readonly limit?: number;
}

/** The latest day first. */
export async function listReconciliations(
  { database }: Operator,
  { paymentChannelCode, limit = 50 }: ListReconciliationsInput = {},
): Promise<ReconciliationView[]> {
  requireInteger('the limit', limit, 1, 1000);
  return findReconciliations(database, { paymentChannelCode: paymentChannelCode ?? null, limit });
}

export interface ListDifferencesInput extends ListReconciliationsInput {
  /** Those that are closed too. */
  readonly all?: boolean;
  readonly day?: string;
}

/** The latest day first. */
export async function listDifferences(
  { database, clock }: OperatorWithClock,
  { all = false, paymentChannelCode, day, limit = 100 }: ListDifferencesInput = {},
): Promise<DifferenceView[]> {
  requireInteger('the limit', limit, 1, 10_000);
  return findStoredDifferences(database, {
    paymentChannelCode: paymentChannelCode ?? null,
    day: day === undefined ? null : requirePastDay(day, clock.now()),
    which: all ? 'all' : 'open',
    limit,
  });
}

export interface CloseDifferenceInput {
  readonly differenceNo: string;
  /** What was found out, and what was done about it. */
  readonly note: string;
}

/** It is open again when a later run finds other facts. */
export async function closeDifference(
  operator: Operator,
  { differenceNo, note: given }: CloseDifferenceInput,
): Promise<Changed<DifferenceView>> {
  const note = requireName('the note', given);
  return inTransaction(operator, async (tx) => {
    const difference = /^[1-9]\d{0,17}$/.test(differenceNo) ? await lockDifference(tx, differenceNo) : undefined;
    if (!difference) throw createNotFound('difference', differenceNo);
    if (difference.closedAt !== null) return { ...difference, changed: false };
    const { kind, lineKind, number, day, paymentChannelCode: subject } = difference;
    const detail = { differenceNo, day, kind, lineKind, number, note };
    await recordAudit(tx, { actor: operator.actor, action: 'reconciliation.close', subject, detail });
    return { ...(await storeClosedDifference(tx, differenceNo, { by: operator.actor, note })), changed: true };
  });
}
