import { debitLoadOf } from '../../catalog/payment-channels/debit-load-sql.js';
import {
  type PaymentChannelView,
  pauseDebits,
  resumeDebits,
} from '../../catalog/payment-channels/payment-channel-provisioning-sql.js';
import { countFirstDebits } from '../../gateways/call-counts-sql.js';
import type { TestCall } from '../../gateways/gateway.js';
import { recordAudit } from '../audit/audit.js';
import { recordLimited } from '../audit/trace-read.js';
import { type Changed, inTransaction, type Operator, type OperatorWithGateways, refusal } from '../operator.js';
import { requireName } from '../rules.js';
import { requireLockedPaymentChannel, requirePaymentChannelView } from './payment-channels.js';

interface Coded {
  readonly code: string;
}
type Reasoned = Coded & { readonly reason: string };

/** Counts of due renewals and of debits in flight stop at this number. */
const MAX_COUNTED = 10_000;

/** Returns what a pause would hold and what would go on. */
export async function previewPause({ database }: Operator, { code }: Coded) {
  await requirePaymentChannelView(database, code);
  const { renewals, inFlight } = await debitLoadOf(database, code, MAX_COUNTED + 1);
  return {
    renewalsDue: Math.min(renewals, MAX_COUNTED),
    isAtLeast: renewals > MAX_COUNTED,
    firstDebits: await countFirstDebits(database, code),
    inFlight: Math.min(inFlight, MAX_COUNTED),
  };
}

/**
 * Holds the renewals of a payment channel on every node. Debits that were sent are queried until they have a result,
 * and first debits of new orders go on.
 */
export async function pausePaymentChannel(operator: Operator, { code, reason }: Reasoned) {
  return changePause(operator, code, pauseDebits, {
    action: 'payment-channel.pause',
    detail: { reason: requireName('the reason', reason) },
  });
}

/** Starts the held renewals. Their periods keep their due times. */
export async function resumePaymentChannel(operator: Operator, { code }: Coded) {
  return changePause(operator, code, resumeDebits, { action: 'payment-channel.resume', detail: {} });
}

async function changePause(
  operator: Operator,
  code: string,
  change: typeof pauseDebits,
  entry: { readonly action: string; readonly detail: Readonly<Record<string, unknown>> },
): Promise<Changed<PaymentChannelView>> {
  return inTransaction(operator, async (tx) => {
    await requireLockedPaymentChannel(tx, code, 'change');
    const changed = await change(tx, code);
    if (changed) await recordAudit(tx, { actor: operator.actor, subject: code, ...entry });
    return { ...(await requirePaymentChannelView(tx, code)), changed };
  });
}

/**
 * Calls a bridge with a handshake and with a query of a debit that was never made. Neither changes anything. The calls
 * are limited per operator and recorded, because they use the bridge's capacity.
 */
export async function testPaymentChannel(
  operator: OperatorWithGateways,
  { code }: Coded,
): Promise<{ isGood: boolean; calls: TestCall[] }> {
  const { database, gateways, actor } = operator;
  const { gateway } = await requirePaymentChannelView(database, code);
  await inTransaction(operator, (tx) =>
    recordLimited(tx, { actor, action: 'payment-channel.test', subject: code, detail: {} }),
  );
  const calls = await (await gateways.of(code)).testCalls?.();
  if (calls === undefined) throw refusal('gateway-without-bridge')`the ${gateway} gateway calls no bridge`;
  return { isGood: calls.length === 2 && calls.every(({ isAnswered }) => isAnswered), calls: [...calls] };
}
