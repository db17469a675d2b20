import type { Static } from '@perennial/wire';
import { declineKinds } from '@perennial/wire/enums';
import type { Clock } from '../../platform/clock.js';
import { formatPaymentOrderNo } from '../../subscriptions/domain/orders/order-numbers.js';
import { requireChannelId } from '../channel-id.js';
import type { Operator, OperatorWithClock } from '../operator.js';
import { type PageInput, readCursor, requirePageSize, writeCursor } from '../paging.js';
import { parseMoment, requireOneOf } from '../rules.js';
import type { Asked } from '../schemas/parts.js';
import type { failedFilter, failedSummary } from '../schemas/payments.js';
import { walkInStretches } from '../walk.js';
import {
  FAILED_STATUSES,
  type FailedFilter,
  type FailedKey,
  type FailedPayment,
  type FailedStretch,
  type RecoveredByTry,
  readFailedPayments,
  sumFailedPayments,
  sumRecovered,
} from './failed-payments-sql.js';

type FailedFilterInput = Asked<Static<typeof failedFilter>>;

/**
 * Returns a page. With the status FAIL_RETRY, the payments are sorted by the time of the retry, soonest first.
 * Otherwise they are sorted by the time of failure, latest first.
 */
export async function listFailedPayments(operator: OperatorWithClock, input: FailedFilterInput & PageInput) {
  const filter = await parseFailedFilter(operator, input);
  const size = requirePageSize(input.limit);
  // The status is part of the list's name, because the sort order depends on the status.
  const list = `payments/failed/${filter.status ?? ''}`;
  const key = input.cursor === undefined ? undefined : readCursor<FailedKey>(list, input.cursor, [0, 0, 0]);
  const { found, next } = await walkFailedPayments(operator, filter, key, { limit: size, waitMs: PAGE_MS });
  return {
    payments: found.map(({ micros: _, orderNo, ...payment }) => {
      const paymentOrderNo = formatPaymentOrderNo(orderNo, payment.cycleNo);
      return { ...payment, orderNo: String(orderNo), paymentOrderNo };
    }),
    nextCursor: next === undefined ? null : writeCursor(list, next),
  };
}

type Sum = Static<typeof failedSummary>['total'];

const MAX_COUNTED = 10_000;
const MAX_REASONS = 50;
const RECOVERED_DAYS = 30;

/**
 * Returns sums by kind of decline, by reason and by institution, largest first, and by number of attempts. Stops at a limit of rows and
 * time.
 */
export async function summarizeFailedPayments(operator: OperatorWithClock, input: FailedFilterInput) {
  const { database, clock } = operator;
  const filter = await parseFailedFilter(operator, input);
  let counted = 0;
  const failed = await gather(
    clock,
    (after, rows) => sumFailedPayments(database, filter, { after, rows, limit: MAX_COUNTED - counted }),
    (group) => {
      counted += group.payments;
      return counted === MAX_COUNTED;
    },
  );
  const since = clock.now() - RECOVERED_DAYS * 86_400_000;
  const recovered = await gather(clock, (after, rows) => sumRecovered(database, filter, since, { after, rows }));
  const byKind = groupBy(failed.groups, ({ declineKind }) => declineKind);
  return {
    isAtLeast: failed.isAtLeast,
    total: sum(failed.groups),
    byKind: byKind.map(([declineKind, group]) => ({ declineKind, ...sum(group) })),
    byReason: byKind
      .flatMap(([declineKind, group]) =>
        groupBy(group, ({ reason }) => reason).map(([reason, same]) => ({ reason, declineKind, ...sum(same) })),
      )
      .toSorted((a, b) => b.payments - a.payments)
      .slice(0, MAX_REASONS),
    byInstitution: groupBy(failed.groups, (one) => one.paymentChannelCode).map(([paymentChannelCode, group]) => ({
      paymentChannelCode,
      ...sum(group),
    })),
    byTry: sumByTry(failed.groups),
    recoveredByTry: sumByTry(recovered.groups),
    isRecoveredAtLeast: recovered.isAtLeast,
  };
}

/** Collects the groups of all stretches. Stops early if `isEnough` returns true for a group. */
async function gather<Group>(
  clock: Clock,
  read: (after: FailedKey | undefined, rows: number) => Promise<FailedStretch<readonly Group[]>>,
  isEnough: (group: Group) => boolean = () => false,
) {
  const groups: Group[] = [];
  let place: FailedKey | undefined;
  for await (const { found, last, isLast } of walkInStretches({ clock, first: FIRST_SUMMED, waitMs: SUM_MS }, (rows) =>
    read(place, rows),
  )) {
    groups.push(...found);
    if (found.map(isEnough).includes(true)) break;
    if (isLast) return { groups, isAtLeast: false };
    place = last;
  }
  return { groups, isAtLeast: true };
}

const sum = (group: readonly Sum[]): Sum => ({
  payments: group.reduce((total, { payments }) => total + payments, 0),
  amountCent: group.reduce((total, { amountCent }) => total + amountCent, 0),
});

function groupBy<One extends Sum, Key>(found: readonly One[], keyOf: (one: One) => Key): [Key, One[]][] {
  const groups = new Map<Key, One[]>();
  for (const one of found) {
    const group = groups.get(keyOf(one));
    if (group) group.push(one);
    else groups.set(keyOf(one), [one]);
  }
  return [...groups].toSorted(([, a], [, b]) => sum(b).payments - sum(a).payments);
}

const sumByTry = (found: readonly RecoveredByTry[]): RecoveredByTry[] =>
  groupBy(found, ({ tryNo }) => tryNo)
    .map(([tryNo, group]) => ({ tryNo, ...sum(group) }))
    .toSorted((a, b) => a.tryNo - b.tryNo);

export async function parseFailedFilter({ database }: Operator, input: FailedFilterInput): Promise<FailedFilter> {
  const { status, reason, declineKind, paymentChannelCode, appId, productCode, from, to } = input;
  return {
    status: status === undefined ? undefined : requireOneOf('the status', status, FAILED_STATUSES),
    reason,
    declineKind: declineKind === undefined ? undefined : requireOneOf('the kind of decline', declineKind, declineKinds),
    paymentChannelCode,
    channelId: appId === undefined ? undefined : await requireChannelId(database, appId),
    productCode,
    from: parseMoment(from),
    to: parseMoment(to),
  };
}

/** Time limit of a page. */
const PAGE_MS = 100;
/** Time limit of each of the two sums in a summary. */
const SUM_MS = 50;
const FIRST_SUMMED = 200;

/**
 * Returns up to `limit` payments, or fewer if the time is over. `next` is the key after which the list continues, or
 * undefined at the end of the list.
 */
export async function walkFailedPayments(
  { database, clock }: OperatorWithClock,
  filter: FailedFilter,
  after: FailedKey | undefined,
  { limit, waitMs }: { readonly limit: number; readonly waitMs: number },
) {
  const found: FailedPayment[] = [];
  let place = after;
  // Reads one payment more than requested, to detect a next page.
  const stretches = walkInStretches({ clock, first: limit + 1, waitMs }, (rows) =>
    readFailedPayments(database, filter, { after: place, rows, limit: limit - found.length + 1 }),
  );
  for await (const stretch of stretches) {
    found.push(...stretch.found);
    if (found.length > limit) {
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      return { found: shown, next: last && ([last.micros, last.orderNo, last.cycleNo] as const) };
    }
    if (stretch.isLast) return { found, next: undefined };
    place = stretch.last;
  }
  return { found, next: place };
}
