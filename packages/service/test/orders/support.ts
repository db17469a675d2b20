import { pino } from 'pino';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import { billDueOrders } from '../../src/engine/jobs/billing.js';
import { expireAndCompleteDue } from '../../src/engine/jobs/expire-and-complete.js';
import { renewDueOrders } from '../../src/engine/jobs/renewals.js';
import { cancelAtInstitutions } from '../../src/engine/recovery/cancellations.js';
import { askAboutPendingDebits } from '../../src/engine/recovery/debits.js';
import type {
  AgreementCancellation,
  BindCodeOutcome,
  BindCodeRequest,
  BindConfirmation,
  BindOutcome,
  CancelOutcome,
  DebitOutcome,
  DebitQuery,
  DebitRequest,
  Gateway,
  NotFound,
  Notice,
} from '../../src/gateways/gateway.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import type { Database } from '../../src/platform/db/database.js';
import type { ServiceDeps } from '../../src/service.js';
import { createBatchSettler } from '../../src/subscriptions/steps/payments/batch-settler.js';
import { type ChannelClient, channelClient, send } from '../support/channel-client.js';
import { demoChannel } from '../support/demo.js';
import { type TestService, testService } from '../support/service.js';

/** A fake institution that a test controls, which records its requests. */
export interface Institution extends Gateway {
  readonly debits: DebitRequest[];
  readonly queries: DebitQuery[];
  readonly cancellations: AgreementCancellation[];
  readonly sends: BindCodeRequest[];
  readonly confirms: BindConfirmation[];
  onDebit: (request: DebitRequest) => Promise<DebitOutcome>;
  onQuery: (request: DebitQuery) => Promise<DebitOutcome | NotFound>;
  onCancel: (request: AgreementCancellation) => Promise<CancelOutcome>;
  onSend: (request: BindCodeRequest) => Promise<BindCodeOutcome>;
  onConfirm: (request: BindConfirmation) => Promise<BindOutcome>;
  /** Restores the default: everything succeeds. Clears the records. */
  reset(): void;
}

export const paid = (request: DebitQuery, more: object = {}): DebitOutcome => ({
  kind: 'success',
  paidAt: request.startedAt,
  amountCent: request.amountCent,
  institutionRef: `ref-${request.attemptNo}`,
  ...more,
});

export function institution(): Institution {
  const willing = (): Pick<Institution, 'onDebit' | 'onQuery' | 'onCancel' | 'onSend' | 'onConfirm'> => ({
    onDebit: async (request) => paid(request),
    onQuery: async (request) => paid(request),
    onCancel: async () => ({ kind: 'canceled' }),
    onSend: async ({ bindOrderNo }) => ({ kind: 'sent', reference: `ref-${bindOrderNo}-${fake.sends.length}` }),
    onConfirm: async ({ bindOrderNo }) => ({ kind: 'bound', institutionNo: `inst-${bindOrderNo}` }),
  });
  const asked = { debits: [], queries: [], cancellations: [], sends: [], confirms: [] };
  const fake: Institution = {
    ...asked,
    ...willing(),
    reset() {
      for (const list of Object.values(asked)) list.length = 0;
      Object.assign(fake, willing());
    },
    sendBindCode(request) {
      fake.sends.push(request);
      return fake.onSend(request);
    },
    confirmBind(request) {
      fake.confirms.push(request);
      return fake.onConfirm(request);
    },
    debit(request) {
      fake.debits.push(request);
      return fake.onDebit(request);
    },
    queryDebit(request) {
      fake.queries.push(request);
      return fake.onQuery(request);
    },
    cancelAgreement(request) {
      fake.cancellations.push(request);
      return fake.onCancel(request);
    },
    refund: async ({ amountCent }) => ({ kind: 'success', refundedAt: 0, amountCent }),
    queryRefund: async () => ({ kind: 'not-found' }),
    verifyNotice: ({ body }): Notice => JSON.parse(body.toString()),
    async *statement() {},
  };
  return fake;
}

export type Stage = Awaited<ReturnType<typeof stage>>;

/** Starts a service over HTTP with a fake institution. Jobs run only when the test calls them. */
export async function stage(more: Partial<ServiceDeps> = {}) {
  const fake = institution();
  const gateways = { of: async () => fake };
  const service = await testService({ gateways, ...more });
  const channel = await demoChannel(service);
  const { database } = service.fresh;
  const deps = {
    database,
    gateways,
    clock: service.clock,
    channels: createChannelRegistry(database, service.vault),
    settle: createBatchSettler(database, service.clock),
    log: more.log ?? pino({ level: 'silent' }),
  };
  const askDue = () => askAboutPendingDebits(deps);
  return {
    service,
    channel,
    institution: fake,
    /** Queries the institution about the attempts whose query is due. */
    askDue,
    /** Queries the institution about every open attempt, even if its query is not due. */
    async askPending() {
      await database.query('update debit_attempts set ask_at = now() where ask_at is not null');
      return askDue();
    },
    async cancelAgreements() {
      await database.query('update agreements set cancel_at = now() where cancel_at is not null');
      return cancelAtInstitutions(deps);
    },
    /**
     * Bills and debits what is due by the real clock, which is months ahead of the service's clock. Runs one batch of
     * at most 64 debits by default. A second batch could debit the next period of the same orders, because that is due
     * too.
     */
    async renew(batches = 1) {
      const others = (await billDueOrders(database)) + (await expireAndCompleteDue(database));
      let begun = 0;
      const limited = { ...deps, stopping: () => begun++ >= batches };
      return others + (await renewDueOrders(limited, { code: 'MOCKPAY', debitsPerSecond: null }));
    },
    /** Sends an institution's notice to the service's notice endpoint. */
    notice: (notice: Notice, code = 'MOCKPAY') =>
      send(service.baseUrl, 'POST', `/gateway/v1/notices/${code}`, {}, Buffer.from(JSON.stringify(notice))),
    close: () => service.close(),
  };
}

/** Creates another channel with the demo channel's products and with MOCKPAY. */
export async function anotherChannel(service: TestService): Promise<ChannelClient> {
  const created = await createChannel(service.operator, { name: 'Another channel', ratePerSecond: 10_000 });
  const { appId } = created;
  for (const productCode of ['TEST_SPU_001', 'TEST_SPU_DAILY_7']) {
    await authorizeProduct(service.operator, { appId, productCode });
  }
  await authorizePaymentChannel(service.operator, { appId, code: 'MOCKPAY', isDefault: true, shareEnabled: true });
  return channelClient(service.baseUrl, created, () => service.clock.now());
}

/** Creates a product with the given number of daily periods for the demo channel. */
export async function dailyProduct(
  service: TestService,
  productCode: string,
  totalCycles: number,
  benefits: readonly { benefitCode: string; name: string; faceValueCent: number }[] = [
    { benefitCode: 'DAY_PASS', name: 'Day pass', faceValueCent: 100 },
  ],
): Promise<void> {
  await createProduct(service.operator, {
    productCode,
    productName: productCode,
    settlementModes: ['SVC_DEDUCT', 'CHANNEL_COLLECT'],
    periodType: 'DAY',
    period: 1,
    totalCycles,
    amountCent: 100,
    benefits,
  });
  await authorizeProduct(service.operator, { appId: 'test_demo', productCode });
}

let copies = 0;

/** Copies the order with its periods and benefits `count` times, under unused numbers, with these columns changed. */
export async function copyOrder(
  database: Database,
  orderNo: string,
  count: number,
  changed: object = {},
): Promise<void> {
  const first = 800_000_000_000_000 + copies;
  copies += count;
  const last = first + count - 1;
  await database.query(
    `with copied as (
       insert into orders select c.* from orders o, generate_series($2::bigint, $3::bigint) n,
         jsonb_populate_record(o, jsonb_build_object('order_no', n, 'external_order_no', 'copy-' || n) || $4::jsonb) c where o.order_no = $1
     ), named as (
       insert into external_orders select c.* from external_orders e, generate_series($2::bigint, $3::bigint) n,
         jsonb_populate_record(e, jsonb_build_object('order_no', n, 'external_order_no', 'copy-' || n)) c where e.order_no = $1
     ), paid as (
       insert into payments select c.* from payments p, generate_series($2::bigint, $3::bigint) n,
         jsonb_populate_record(p, jsonb_build_object('order_no', n)) c where p.order_no = $1
     )
     insert into benefits select c.* from benefits b, generate_series($2::bigint, $3::bigint) n,
       jsonb_populate_record(b, jsonb_build_object('order_no', n)) c where b.order_no = $1`,
    [orderNo, first, last, JSON.stringify(changed)],
  );
}

export interface StoredEvent {
  readonly event_type: string;
  readonly cycle_no: number | null;
  readonly cycle_to: number | null;
  readonly data: Record<string, unknown>;
}

export async function eventsOf(database: Database, orderNo: string): Promise<StoredEvent[]> {
  const rows = await database.query<Omit<StoredEvent, 'data'> & { data: string }>(
    'select event_type, cycle_no, cycle_to, data from events where order_no = $1 order by event_no',
    [orderNo],
  );
  return rows.map((row) => ({ ...row, data: JSON.parse(row.data) }));
}

/** Returns the status that each event of an order announces. */
export async function toldAbout(database: Database, orderNo: string): Promise<unknown[]> {
  return (await eventsOf(database, orderNo)).map(({ data }) => data['paymentStatus'] ?? data['orderStatus']);
}

export async function alerts(database: Database): Promise<{ kind: string; subject: string; detail: string }[]> {
  return database.query('select kind, subject, detail from alerts order by kind, subject');
}

/** Returns the number of rows in every table. */
export async function rowCounts(database: Database): Promise<Record<string, number>> {
  const tables = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  );
  const counts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await database.query<{ n: number }>(`select count(*) as n from ${name}`);
      return [name, row?.n ?? 0] as const;
    }),
  );
  return Object.fromEntries(counts.sort(([a], [b]) => a.localeCompare(b)));
}

export interface StoredAgreement {
  readonly agreement_id: number;
  readonly agreement_no: string;
  readonly status: string;
  readonly asked: boolean;
}

/** Returns the agreement of an order. */
export async function agreementOf(database: Database, orderNo: string): Promise<StoredAgreement> {
  const [row] = await database.query<StoredAgreement>(
    `select a.agreement_id, a.agreement_no, a.status, a.cancel_at is not null as asked
     from orders o join agreements a using (agreement_id) where o.order_no = $1`,
    [orderNo],
  );
  if (!row) throw new Error(`order ${orderNo} runs on no agreement`);
  return row;
}

/** Texts that cannot be numbers of the service. */
export const NO_NUMBERS = [
  'abc',
  '0',
  '-1',
  '1.5',
  '1e3',
  ' 1',
  '٣',
  '0x10',
  '9'.repeat(19),
  '9'.repeat(30),
  '1'.repeat(1024),
];
