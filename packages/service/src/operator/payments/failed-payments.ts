import { formatPaymentOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { requireChannelId } from '../channel-id.js';
import { parseMoment } from '../moments.js';
import type { Operator, OperatorWithClock } from '../operator.js';
import { type PageInput, readCursor, requirePageSize, writeCursor } from '../paging.js';
import { requireOneOf } from '../rules.js';
import {
  countRecovered,
  FAILED_STATUSES,
  type FailedFilter,
  type FailedKey,
  type FailedPayment,
  type RecoveredByTry,
  readFailedPayments,
} from './failed-payments-sql.js';

export interface FailedFilterInput {
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  readonly paymentChannelCode?: string | undefined;
  readonly appId?: string | undefined;
  readonly productCode?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export interface FailedPaymentView extends Omit<FailedPayment, 'orderNo' | 'micros'> {
  readonly orderNo: string;
  readonly paymentOrderNo: string;
}

/** Those that are tried again come in the order of their retries, all others by when they failed, the latest first. */
export async function listFailedPayments(
  operator: Operator,
  input: FailedFilterInput & PageInput,
): Promise<{ readonly payments: FailedPaymentView[]; readonly nextCursor: string | null }> {
  const filter = await parseFailedFilter(operator, input);
  const size = requirePageSize(input.limit);
  const key = input.cursor === undefined ? undefined : readCursor<FailedKey>(input.cursor, [0, 0, 0]);
  const { found, next } = await walkFailedPayments(operator, filter, key, {
    limit: size,
    maxWalked: MAX_WALKED_FOR_A_PAGE,
  });
  return { payments: found.map(describeFailedPayment), nextCursor: next === undefined ? null : writeCursor(next) };
}

const describeFailedPayment = ({ micros: _, orderNo, ...payment }: FailedPayment): FailedPaymentView => ({
  ...payment,
  orderNo: String(orderNo),
  paymentOrderNo: formatPaymentOrderNo(orderNo, payment.cycleNo),
});

interface Sum {
  readonly payments: number;
  readonly amountCent: number;
}

export interface FailedSummary {
  readonly isAtLeast: boolean;
  readonly total: Sum;
  readonly byReason: readonly (Sum & { readonly reason: string | null })[];
  readonly byInstitution: readonly (Sum & { readonly paymentChannelCode: string })[];
  readonly byTry: readonly (Sum & { readonly tryNo: number })[];
  readonly recoveredByTry: readonly RecoveredByTry[];
}

const MAX_COUNTED = 10_000;
const MAX_REASONS = 50;
const RECOVERED_DAYS = 30;

/** The most frequent first. Counted up to a limit. */
export async function summarizeFailedPayments(
  operator: OperatorWithClock,
  input: FailedFilterInput,
): Promise<FailedSummary> {
  const filter = await parseFailedFilter(operator, input);
  const { found, next } = await walkFailedPayments(operator, filter, undefined, {
    limit: MAX_COUNTED,
    maxWalked: MAX_WALKED_FOR_A_SUMMARY,
  });
  const since = operator.clock.now() - RECOVERED_DAYS * 86_400_000;
  return {
    isAtLeast: next !== undefined,
    total: sum(found),
    byReason: groupBy(found, ({ reason }) => reason)
      .map(([reason, group]) => ({ reason, ...sum(group) }))
      .slice(0, MAX_REASONS),
    byInstitution: groupBy(found, (one) => one.paymentChannelCode).map(([paymentChannelCode, group]) => ({
      paymentChannelCode,
      ...sum(group),
    })),
    byTry: groupBy(found, ({ tries }) => tries)
      .map(([tryNo, group]) => ({ tryNo, ...sum(group) }))
      .toSorted((a, b) => a.tryNo - b.tryNo),
    recoveredByTry: await countRecovered(operator.database, filter, since),
  };
}

const sum = (group: readonly FailedPayment[]): Sum => ({
  payments: group.length,
  amountCent: group.reduce((total, { amountCent }) => total + amountCent, 0),
});

function groupBy<Key>(found: readonly FailedPayment[], keyOf: (one: FailedPayment) => Key): [Key, FailedPayment[]][] {
  const groups = new Map<Key, FailedPayment[]>();
  for (const one of found) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return [...groups].toSorted(([, a], [, b]) => b.length - a.length);
}

export async function parseFailedFilter({ database }: Operator, input: FailedFilterInput): Promise<FailedFilter> {
  const { status, reason, paymentChannelCode, appId, productCode, from, to } = input;
  return {
    status: status === undefined ? undefined : requireOneOf('the status', status, FAILED_STATUSES),
    reason,
    paymentChannelCode,
    channelId: appId === undefined ? undefined : await requireChannelId(database, appId),
    productCode,
    from: parseMoment(from),
    to: parseMoment(to),
  };
}

/** Attempts that one statement looks at: some tens of milliseconds. */
const STRETCH = 2_000;
const MAX_WALKED_FOR_A_PAGE = 40_000;
const MAX_WALKED_FOR_A_SUMMARY = 60_000;

export interface Walked {
  readonly found: readonly FailedPayment[];
  /** Where to go on. Undefined when there is no more. */
  readonly next: FailedKey | undefined;
}

/**
 * Up to `limit` of them. It stops after having looked at so many, even if fewer were found: whoever wants the others goes on
 * from there.
 */
export async function walkFailedPayments(
  { database }: Operator,
  filter: FailedFilter,
  after: FailedKey | undefined,
  { limit, maxWalked }: { readonly limit: number; readonly maxWalked: number },
): Promise<Walked> {
  const found: FailedPayment[] = [];
  let place = after;
  for (let walked = 0; walked < maxWalked; ) {
    // One more tells whether there is another page.
    const room = limit - found.length + 1;
    const walk = Math.min(STRETCH, Math.max(200, room * 4));
    const stretch = await readFailedPayments(database, filter, place, { walk, limit: room });
    found.push(...stretch.found);
    if (found.length > limit) {
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      return { found: shown, next: last && [last.micros, last.orderNo, last.cycleNo] };
    }
    if (stretch.walked < walk) return { found, next: undefined };
    place = stretch.last;
    walked += stretch.walked;
  }
  return { found, next: place };
}
