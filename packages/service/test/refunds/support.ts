import { pino } from 'pino';
import { askAboutPendingRefunds } from '../../src/engine/recovery/refunds.js';
import type { NotFound, RefundOutcome, RefundQuery, RefundRequest } from '../../src/gateways/gateway.js';
import { type RefundInput, refundPayment } from '../../src/operator/orders/refunds/refunds.js';
import type { ServiceDeps } from '../../src/service.js';
import { stage } from '../orders/support.js';
import { collectRequest, sharedRequest } from '../support/demo.js';

/** A fake institution's refunds: idempotent by refund number, with answers that a test can replace. */
export interface Bank {
  readonly asked: RefundRequest[];
  readonly queries: RefundQuery[];
  /** The refunds that the institution has booked, by refund number. */
  readonly booked: Map<string, RefundRequest>;
  onRefund: (request: RefundRequest) => Promise<RefundOutcome>;
  onQuery: (request: RefundQuery) => Promise<RefundOutcome | NotFound>;
  /** Books the refund and returns a successful outcome, as `onRefund` does by default. */
  book(request: RefundRequest): RefundOutcome;
  reset(): void;
}

export type RefundStage = Awaited<ReturnType<typeof refundStage>>;

export async function refundStage(more: Partial<ServiceDeps> = {}) {
  const base = await stage(more);
  const { service, channel, institution } = base;
  const { database } = service.fresh;
  const bank = newBank(() => service.clock.now());
  institution.refund = (request) => {
    bank.asked.push(request);
    return bank.onRefund(request);
  };
  institution.queryRefund = (request) => {
    bank.queries.push(request);
    return bank.onQuery(request);
  };
  const gateways = { of: async () => institution };
  const operator = { ...service.operator, actor: 'test:ann', clock: service.clock, gateways };
  const askDueRefunds = () =>
    askAboutPendingRefunds({ database, gateways, clock: service.clock, log: pino({ level: 'silent' }) });
  const create = async (request: object) => {
    const reply = await channel.call('orders/create', request);
    if (reply.data?.orderStatus !== 'ACTIVE') throw new Error(`orders/create answered ${reply.text}`);
    return reply.data.orderNo as string;
  };
  return {
    ...base,
    bank,
    operator,
    refund: (input: RefundInput) => refundPayment(operator, input),
    /** Runs one turn of the job that queries the institution about the refunds whose query is due. */
    askDueRefunds,
    /** Runs one turn of the job for all open refunds, even if their query is not due. */
    async askAll() {
      await database.query('update refunds set ask_at = now() where ask_at is not null');
      return askDueRefunds();
    },
    /** Creates an order whose first period is paid, and returns its number. */
    paidOrder: (more: Record<string, unknown> = {}) => create(sharedRequest(channel, more)),
    collectedOrder: () => create(collectRequest(channel)),
    query: async (orderNo: string): Promise<Record<string, unknown>> =>
      (await channel.call('orders/query', { orderNo })).data,
    queryPeriod: async (orderNo: string, cycleNo = 1): Promise<Record<string, unknown>> =>
      (await channel.call('payments/query', { paymentOrderNo: periodNo(orderNo, cycleNo) })).data,
  };
}

export const periodNo = (orderNo: string, cycleNo = 1) => `${orderNo}${String(cycleNo).padStart(4, '0')}`;

function newBank(now: () => number): Bank {
  const bank: Bank = {
    asked: [],
    queries: [],
    booked: new Map(),
    onRefund: async (request) => bank.book(request),
    onQuery: async ({ refundNo }) => {
      const request = bank.booked.get(refundNo);
      return request ? success(request) : { kind: 'not-found' };
    },
    book(request) {
      bank.booked.set(request.refundNo, request);
      return success(request);
    },
    reset() {
      bank.asked.length = 0;
      bank.queries.length = 0;
      bank.booked.clear();
      bank.onRefund = async (request) => bank.book(request);
      bank.onQuery = initial.onQuery;
    },
  };
  const initial = { onQuery: bank.onQuery };
  const success = ({ refundNo, amountCent }: RefundRequest): RefundOutcome => ({
    kind: 'success',
    refundedAt: now(),
    amountCent,
    institutionRef: `ref-${refundNo}`,
  });
  return bank;
}
