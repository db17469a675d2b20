import { randomInt, randomUUID } from 'node:crypto';
import { encryptField } from '@perennial/wire';
import { beforeEach } from 'vitest';
import { createChannelRegistry } from '../../src/catalog/channels/channel-registry.js';
import type { Gateway } from '../../src/gateways/gateway.js';
import { createSandboxGateway } from '../../src/gateways/sandbox/sandbox-gateway.js';
import type { Operator } from '../../src/operator/operator.js';
import { authorizePaymentChannel } from '../../src/operator/provisioning/payment-channel-authorizations.js';
import { createPaymentChannel } from '../../src/operator/provisioning/payment-channels.js';
import { authorizeProduct, createProduct } from '../../src/operator/provisioning/products.js';
import type { IdempotencyOptions } from '../../src/platform/idempotency/run-once.js';
import { createKeyedHasher } from '../../src/platform/secrets/keyed-hasher.js';
import type { Environment } from '../../src/platform/settings.js';
import { PRODUCT } from '../operator/support.js';
import { later, ofFile } from '../orders/stage-of-file.js';
import { institution } from '../orders/support.js';
import { capturedLog } from '../support/captured-log.js';
import { type ChannelClient, type ChannelCredentials, channelClient } from '../support/channel-client.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { testService } from '../support/service.js';

export type PaymentChannelName = 'PAY' | 'BANK' | 'SOME';

export interface ChannelOptions {
  /**
   * The payment channels to authorize. Defaults to PAY, BANK and SOME. PAY is the channel's default unless `isDefault`
   * is false.
   */
  readonly paymentChannels?: readonly PaymentChannelName[];
  readonly isDefault?: boolean;
}

export interface AgreementsOptions {
  readonly environment?: Environment;
  /** Uses the real sandbox gateway instead of the fake. */
  readonly sandbox?: boolean;
}

/** Starts a service over real HTTP and a real database, with a manual clock and, by default, a fake institution. */
export async function agreementsService(options: AgreementsOptions = {}) {
  const { environment = 'sandbox', sandbox = false } = options;
  const gateway = institution();
  const log = capturedLog();
  const own = { environment, log: log.log };
  let used: Gateway = gateway;
  const service = await testService({
    ...own,
    gateways: { of: async () => used },
  });
  const { fresh, vault, clock, operator, baseUrl } = service;
  if (sandbox) used = createSandboxGateway(clock);
  await stock(operator);
  const nodes: Node[] = [];
  const registry = createChannelRegistry(fresh.database, vault);
  return {
    gateway,
    clock,
    fresh,
    operator,
    log,
    /** The hasher by which the service recognises a phone number. */
    bankMobiles: createKeyedHasher(fresh.database, vault, 'bank mobiles'),
    /** Returns another client of a channel, with its own token. */
    client: (credentials: ChannelCredentials) => channelClient(baseUrl, credentials, () => clock.now()),
    async channel(options: ChannelOptions = {}) {
      const client = await service.channel();
      await authorize(operator, client.credentials.appId, options);
      return client;
    },
    /** Starts another node on the same database. Returns a function that creates its clients. */
    async node(another: Gateway, idempotency: IdempotencyOptions = {}) {
      const gateways = { of: async () => another };
      const node = await anotherNode(service, { ...own, testLimits: { idempotency }, gateways });
      nodes.push(node);
      return node.client;
    },
    /** Returns the channel as a node has it in memory. */
    async inMemory({ credentials }: ChannelClient) {
      const channel = await registry.reload(credentials.appId);
      if (!channel) throw new Error(`no channel ${credentials.appId}`);
      return channel;
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
      await service.close();
    },
  };
}

export type AgreementsService = Awaited<ReturnType<typeof agreementsService>>;

/** Creates the service of a file, with a channel for each test. Resets the institution before each test. */
export function agreementsOfFile(options: AgreementsOptions = {}) {
  const service = ofFile(() => agreementsService(options));
  let channel: ChannelClient;
  beforeEach(async () => {
    service.gateway.reset();
    channel = await service.channel();
  });
  return { service, channel: later(() => channel) };
}

async function stock(operator: Operator): Promise<void> {
  await createProduct(operator, PRODUCT);
  await createProduct(operator, { ...PRODUCT, productCode: 'UNAUTHORIZED' });
  const made = { gateway: 'sandbox', displayName: 'Pay' };
  await createPaymentChannel(operator, { ...made, code: 'PAY', supportedBanks: ['*'] });
  await createPaymentChannel(operator, { ...made, code: 'SOME', supportedBanks: ['ICBC', 'CCB'] });
  await createPaymentChannel(operator, {
    ...made,
    code: 'BANK',
    supportedBanks: ['ICBC', 'CCB'],
    bankCodeRequired: true,
  });
  await createPaymentChannel(operator, { ...made, code: 'NOBODYS', supportedBanks: ['*'] });
}

async function authorize(operator: Operator, appId: string, options: ChannelOptions): Promise<void> {
  await authorizeProduct(operator, { appId, productCode: PRODUCT.productCode });
  const { paymentChannels = ['PAY', 'BANK', 'SOME'], isDefault = true } = options;
  for (const code of paymentChannels) {
    await authorizePaymentChannel(operator, {
      appId,
      code,
      isDefault: isDefault && code === 'PAY',
      shareEnabled: code === 'PAY',
    });
  }
}

const digits = (count: number) => Array.from({ length: count }, () => randomInt(10)).join('');

/** A user with a card. By default no mobile ends in 9, because the sandbox sends no codes to such numbers. */
export interface Person {
  readonly channelUserId: string;
  readonly mobile: string;
  readonly bankCardNo: string;
  readonly certificateNo: string;
  readonly realName: string;
  readonly bankMobile: string;
}

export function person(more: Partial<Person> = {}): Person {
  return {
    channelUserId: `user-${randomUUID()}`,
    mobile: `+861${digits(9)}1`,
    bankCardNo: `6222${digits(15)}`,
    certificateNo: `11010119${digits(9)}X`,
    realName: `王${randomUUID()}`,
    bankMobile: `1${digits(9)}2`,
    ...more,
  };
}

export function encrypt(client: ChannelClient, text: string): string {
  return encryptField(text, Buffer.from(client.credentials.aesKey, 'base64'));
}

export function bindSmsBody(client: ChannelClient, who: Person, more: object = {}): Record<string, unknown> {
  return {
    channelUserId: who.channelUserId,
    mobileEncrypted: encrypt(client, who.mobile),
    bankCardNoEncrypted: encrypt(client, who.bankCardNo),
    certificateNoEncrypted: encrypt(client, who.certificateNo),
    realNameEncrypted: encrypt(client, who.realName),
    bankMobileEncrypted: encrypt(client, who.bankMobile),
    ...more,
  };
}

export function sendCode(client: ChannelClient, who: Person, more: object = {}) {
  return client.call('agreements/bind-sms', bindSmsBody(client, who, more));
}

export function confirmBody(client: ChannelClient, bindOrderNo: string, smsCode = '123456') {
  return { bindOrderNo, smsCodeEncrypted: encrypt(client, smsCode) };
}

export function confirmCode(client: ChannelClient, bindOrderNo: string, smsCode = '123456') {
  return client.call('agreements/bind-confirm', confirmBody(client, bindOrderNo, smsCode));
}

/** Creates a binding whose code was sent, and returns its bindOrderNo. */
export async function sentBinding(client: ChannelClient, who = person(), more: object = {}): Promise<string> {
  const reply = await sendCode(client, who, more);
  if (reply.data?.smsStatus !== 'SEND_SUCCESS') throw new Error(`bind-sms answered ${reply.text}`);
  return reply.data.bindOrderNo;
}

export async function boundBinding(client: ChannelClient, who = person(), more: object = {}): Promise<string> {
  const bindOrderNo = await sentBinding(client, who, more);
  const reply = await confirmCode(client, bindOrderNo);
  if (reply.data?.agreementStatus !== 'BIND_SUCCESS') throw new Error(`bind-confirm answered ${reply.text}`);
  return bindOrderNo;
}

/** Creates an order on a shared agreement. */
export function createShared(client: ChannelClient, who: Person, more: object = {}) {
  const { mobileEncrypted, ...card } = bindSmsBody(client, who);
  return client.call('orders/create', {
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: randomUUID(),
    productCode: PRODUCT.productCode,
    channelUserId: who.channelUserId,
    mobileEncrypted,
    sharedAgreement: { ...card, paymentChannelCode: 'PAY', sharedAgreementNo: `SHARED-${who.channelUserId}`, ...more },
  });
}

export interface StoredAgreement {
  readonly status: string;
  readonly wrong_codes: number;
  readonly code_sent: boolean;
  readonly card_tail: string;
  readonly agreement_no: string | null;
  readonly details: string;
  readonly institution_no: string | null;
}

export async function stored(service: AgreementsService, bindOrderNo: string): Promise<StoredAgreement> {
  const [row] = await service.fresh.database.query<StoredAgreement>(
    `select status, wrong_codes, code_sent_at is not null as code_sent, card_tail, agreement_no, details, institution_no
     from agreements where agreement_id = $1`,
    [bindOrderNo],
  );
  if (!row) throw new Error(`no agreement ${bindOrderNo}`);
  return row;
}

/** Returns a barrier: every caller waits until `count` callers have arrived. */
export function meetingOf(count: number): () => Promise<void> {
  let arrived = 0;
  const door = gate();
  return async () => {
    arrived += 1;
    if (arrived === count) door.open();
    await door.passed;
  };
}

/** A gate that is closed until a test opens it. `reached` resolves when a caller waits at it. */
export function gate() {
  let open: () => void = () => undefined;
  let arrive: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return {
    passed,
    reached,
    open: () => open(),
    async stand(): Promise<void> {
      arrive();
      await passed;
    },
  };
}
