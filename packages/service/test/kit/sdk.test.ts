import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type EndpointName, endpoints } from '@perennial/wire';
import {
  createNodeReceiver,
  isPerennialError,
  PerennialClient,
  type PerennialClientOptions,
  PerennialError,
  type WebhookEvent,
} from 'perennial-channel';
import { beforeAll, describe, expect, it } from 'vitest';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { revokeTokens } from '../../src/operator/provisioning/channels.js';
import { ofFile } from '../orders/stage-of-file.js';
import { demoChannel, mobileOf, unique } from '../support/demo.js';
import { packageRoot } from '../support/processes.js';
import { testService } from '../support/service.js';
import { createSendingNode, localOperator } from '../webhooks/sending.js';

/** Tests the built package against the service. */

const service = ofFile(() => testService());
let options: PerennialClientOptions & { readonly callbackSecret: string };
let client: PerennialClient;
const asked = new Set<EndpointName>();

beforeAll(async () => {
  const { credentials } = await demoChannel(service);
  options = {
    ...credentials,
    baseUrl: service.baseUrl,
    now: () => service.clock.now(),
    onRequest: ({ endpoint }) => asked.add(endpoint),
  };
  client = new PerennialClient(options);
});

const productCode = 'TEST_SPU_001';
const card = {
  bankCardNo: '6222020000001234567',
  certificateNo: '110101199001011234',
  realName: '张三',
  bankMobile: '13800000001',
};

const newUser = () => {
  const channelUserId = unique('sdk-user');
  return { channelUserId, mobile: mobileOf(channelUserId) };
};

const collected = (user = newUser()) =>
  ({ settlementMode: 'CHANNEL_COLLECT', externalOrderNo: unique('sdk'), productCode, ...user }) as const;

const agreementOf = (channelUserId: string) => ({
  paymentChannelCode: 'MOCKPAY',
  sharedAgreementNo: unique('sdk-shared'),
  channelUserId,
  ...card,
});

const shared = (user = newUser()) =>
  ({
    settlementMode: 'SVC_DEDUCT',
    externalOrderNo: unique('sdk'),
    productCode,
    ...user,
    sharedAgreement: agreementOf(user.channelUserId),
  }) as const;

const failed = async (promise: Promise<unknown>): Promise<unknown> => {
  const outcome = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Error);
  return outcome;
};

const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

describe('selling', () => {
  it('A.1: a card is bound, and an order runs on it', async () => {
    const user = newUser();
    expect((await client.products.list()).items.map((product) => product.productCode)).toContain(productCode);
    const { items } = await client.paymentChannels.list();
    expect(items.find(({ isDefault }) => isDefault)?.code).toBe('MOCKPAY');
    const { bindOrderNo, smsStatus } = await client.agreements.bindSms({ ...user, ...card });
    expect(smsStatus).toBe('SEND_SUCCESS');
    const bound = await client.agreements.bindConfirm({ bindOrderNo, smsCode: '123456' });
    expect(bound).toMatchObject({ agreementStatus: 'BIND_SUCCESS', bankCardTailNo: '4567' });

    const { bankDataList } = await client.agreements.userData({ channelUserId: user.channelUserId });
    expect(bankDataList).toEqual([
      { bindOrderNo, agreementNo: bound.agreementNo, ...card, agreementStatus: 'BIND_SUCCESS' },
    ]);
    // A query by an encrypted field also finds the card.
    expect((await client.agreements.userData({ bankCardNo: card.bankCardNo })).bankDataList).toContainEqual(
      bankDataList[0],
    );
    expect(await all(client.agreements.userDataAll({ channelUserId: user.channelUserId }))).toEqual(bankDataList);

    const externalOrderNo = unique('sdk');
    const order = await client.orders.create({
      settlementMode: 'SVC_DEDUCT',
      externalOrderNo,
      productCode,
      bindOrderNo,
    });
    expect(order.orderStatus).toBe('ACTIVE');
    const [first] = order.paymentRecords;
    const paid = await client.payments.query({ paymentOrderNo: first?.paymentOrderNo ?? '' });
    expect(paid).toMatchObject({ orderNo: order.orderNo, paymentStatus: 'SUCCESS', amountCent: 1990 });
  });

  it('B: an order is queried, listed and ended', async () => {
    const user = newUser();
    const created = [];
    for (let times = 0; times < 3; times += 1) created.push(await client.orders.create(collected(user)));
    const newestFirst = created.map(({ orderNo }) => orderNo).reverse();
    const { channelUserId } = user;
    const pages: string[] = [];
    const watching = new PerennialClient({ ...options, onRequest: ({ endpoint }) => pages.push(endpoint) });
    expect((await all(watching.orders.listAll({ channelUserId, size: 2 }))).map(({ orderNo }) => orderNo)).toEqual(
      newestFirst,
    );
    expect(pages).toEqual(['orders/list', 'auth/token', 'orders/list'].toSorted());

    for await (const { orderNo } of client.orders.listAll({ channelUserId, size: 1 })) {
      expect((await client.orders.unsubscribe({ orderNo, reason: 'enough' })).orderStatus).toBe('UNSUBSCRIBED');
      break;
    }
    const [newest = ''] = newestFirst;
    expect((await client.orders.query({ orderNo: newest })).orderStatus).toBe('UNSUBSCRIBED');
    expect((await all(client.products.listAll({ size: 1 }))).length).toBe((await client.products.list()).items.length);
    expect((await all(client.paymentChannels.listAll({ size: 1 }))).length).toBeGreaterThan(1);
  });
});

describe('a retry', () => {
  it('by another process with the same key creates an order once', async () => {
    const body = shared();
    const idempotencyKey = unique('sdk-key');
    const first = await client.send('orders/create', body, { idempotencyKey, requestId: 'sdk-1' });
    expect(first).toMatchObject({ replayed: false, requestId: 'sdk-1', httpStatus: 200, attempts: 1, idempotencyKey });
    const again = await new PerennialClient(options).send('orders/create', body, { idempotencyKey });
    expect(again).toMatchObject({ replayed: true, data: first.data });
    const error = await failed(client.orders.create({ ...body, externalOrderNo: unique('sdk') }, { idempotencyKey }));
    expect(error).toMatchObject({ name: 'IDEMPOTENCY_CONFLICT', idempotencyKey });
  });

  it('a client with v1 encryption creates an order and reads the card', async () => {
    const user = newUser();
    const old = new PerennialClient({ ...options, encryption: 'v1' });
    await old.orders.create(shared(user));
    const found = await old.agreements.userData({ bankCardNo: card.bankCardNo, channelUserId: user.channelUserId });
    expect(found.bankDataList).toMatchObject([{ ...card, bindOrderNo: null }]);
  });

  it('uses a new token after a revocation', async () => {
    const fresh = new PerennialClient(options);
    await fresh.products.list();
    await revokeTokens(service.operator, { appId: options.appId });
    expect((await fresh.send('products/list', {})).attempts).toBe(2);
  });
});

describe('refusals', () => {
  it('every refusal has its name', async () => {
    const error = await failed(client.orders.query({ externalOrderNo: 'nobody-has-it' }));
    expect(error).toBeInstanceOf(PerennialError);
    expect(error).toMatchObject({
      name: 'SUBSCRIPTION_NOT_FOUND',
      code: '420001',
      message: 'no such order',
      httpStatus: 200,
      retryable: false,
    });
    expect(isPerennialError(error, 'SUBSCRIPTION_NOT_FOUND')).toBe(true);

    const body = collected();
    await client.orders.create(body);
    expect(isPerennialError(await failed(client.orders.create(body)), 'SUBSCRIPTION_ALREADY_EXISTS')).toBe(true);
    for (const [appSecret, said] of [
      [options.aesKey, 'secret-of-encryption: appSecret holds the aesKey'],
      [options.callbackSecret, 'secret-of-callback: appSecret holds the callbackSecret'],
      [Buffer.alloc(32, 7).toString('base64'), 'wrong-secret: appSecret is not the one of this appId'],
    ] as const) {
      const refusal = await failed(new PerennialClient({ ...options, appSecret }).products.list());
      expect(refusal).toMatchObject({ name: 'SIGNATURE_INVALID', message: expect.stringContaining(`Likely ${said}`) });
    }
    const nameless = { ...collected(), mobile: undefined } as unknown as ReturnType<typeof collected>;
    expect(await failed(client.orders.create(nameless))).toMatchObject({
      message: 'mobile is required',
      serviceMessage: 'mobileEncrypted is required',
    });
    const late = new PerennialClient({ ...options, now: () => service.clock.now() - 600_000 });
    expect(isPerennialError(await failed(late.products.list()), 'TIMESTAMP_SKEWED')).toBe(true);
    const wrongKey = new PerennialClient({ ...options, aesKey: options.callbackSecret });
    expect(await failed(wrongKey.orders.create(collected()))).toMatchObject({
      name: 'DECRYPT_FAILED',
      message: expect.stringMatching(/^mobile cannot be decrypted/),
    });
  });

  it('every endpoint has a method', async () => {
    for (const { name } of endpoints.filter((one) => !asked.has(one.name as EndpointName))) {
      // Whether the endpoint accepts the empty body or refuses it, the endpoint exists.
      const outcome = await client.send(name as 'events/replay', {}).catch((error: unknown) => error);
      if (outcome instanceof Error) expect(outcome).toMatchObject({ name: 'PARAM_INVALID' });
    }
    expect([...asked].toSorted()).toEqual(endpoints.map(({ name }) => name).toSorted());
  });
});

describe('events', () => {
  it('a receiver processes each event of an order once, despite retries', async () => {
    const told: WebhookEvent[] = [];
    const errors: unknown[] = [];
    const { callbackSecret, aesKey, now } = options;
    const onEvent = (event: WebhookEvent) => told.push(event);
    const receiver = createNodeReceiver({
      callbackSecret,
      aesKey,
      now,
      onEvent,
      onError: (error) => errors.push(error),
    });
    let came = 0;
    const server = http.createServer((request, response) => {
      came += 1;
      return receiver(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const node = createSendingNode(service);
    try {
      const url = `http://localhost:${(server.address() as AddressInfo).port}/hooks/events`;
      await setCallback(localOperator(service), { appId: options.appId, url });
      const body = shared();
      const { orderNo } = await client.orders.create(body);
      await node.turn();
      const ours = () => told.filter(({ data }) => data.orderNo === orderNo);
      expect(ours().map(({ eventType }) => eventType)).toEqual(['payment.status.changed', 'order.status.changed']);
      expect(ours()[0]?.data).toMatchObject({
        mobile: body.mobile,
        agreementShareFlag: true,
        paymentStatus: 'SUCCESS',
      });

      const events = await all(client.events.listAll({ orderNo, size: 1 }));
      expect(events.map(({ eventId, deliveryStatus }) => [eventId, deliveryStatus])).toEqual(
        ours()
          .map(({ eventId }) => [eventId, 'DELIVERED'])
          .reverse(),
      );
      const before = came;
      expect(await client.events.replay({ eventIds: events.map(({ eventId }) => eventId) })).toEqual({ replayed: 2 });
      await node.turn();
      expect([came - before, ours().length]).toEqual([2, 2]);
      expect(errors).toEqual([]);
    } finally {
      await node.stop();
      server.close();
    }
  });
});

describe('the package', () => {
  const run = promisify(execFile);
  const sdk = path.join(packageRoot, '..', 'sdk');

  it('works without other packages, and its types need only the platform’s', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'perennial-sdk-'));
    try {
      const npm = (args: string[], cwd: string) => run('npm', [...args, '--offline', '--loglevel=error'], { cwd });
      const packed = await npm(['pack', '--json', '--pack-destination', folder], sdk);
      const [{ filename, files }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
      const names = files.map((file) => file.path);
      expect(names).toEqual(expect.arrayContaining(['dist/index.js', 'dist/types/index.d.ts', 'README.md']));
      expect(names.filter((name) => /^(src|test)\/|compiled|tsbuildinfo|\.map$/.test(name))).toEqual([]);

      await writeFile(path.join(folder, 'package.json'), '{"private":true,"type":"module"}');
      await npm(['install', '--no-audit', '--no-fund', filename], folder);
      await writeFile(
        path.join(folder, 'sell.mjs'),
        `import { PerennialClient } from 'perennial-channel';
        const { now, ...options } = JSON.parse(process.env.OPTIONS);
        const client = new PerennialClient({ ...options, now: () => now });
        const order = await client.orders.create(JSON.parse(process.env.ORDER));
        process.stdout.write(order.orderStatus);`,
      );
      const env = {
        PATH: process.env['PATH'],
        OPTIONS: JSON.stringify({ ...options, now: service.clock.now() }),
        ORDER: JSON.stringify(collected()),
      };
      expect((await run(process.execPath, ['sell.mjs'], { cwd: folder, env })).stdout).toBe('ACTIVE');

      await writeFile(
        path.join(folder, 'sell.ts'),
        `import { PerennialClient, verifyWebhook } from 'perennial-channel';
        const client = new PerennialClient({ baseUrl: '', appId: '', appSecret: '', aesKey: '' });
        export const status: 'ACTIVE' | string = (await client.orders.query({ orderNo: '1' })).orderStatus;
        // @ts-expect-error: the types are there, and know what is missing
        export const event = verifyWebhook({ path: '/' });
        new PerennialClient({ baseUrl: '', appId: '', appSecret: '', aesKey: '', callbackSecret: '', products: [], paymentChannels: [] });`,
      );
      const settings = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
      const modules = path.join(packageRoot, '..', '..', 'node_modules');
      const compiler = path.join(modules, 'typescript', 'bin', 'tsc');
      const ofNode = ['--types', 'node', '--typeRoots', path.join(modules, '@types')];
      for (const types of [
        ['--lib', 'es2018,dom', '--types', ''],
        ['--lib', 'es2018', ...ofNode],
      ]) {
        await run(process.execPath, [compiler, ...settings, ...types, 'sell.ts'], { cwd: folder });
      }
      await checkShapes(folder, (file) =>
        run(process.execPath, [compiler, ...settings, '--exactOptionalPropertyTypes', ...ofNode, file], {
          cwd: folder,
        }),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  /** Checks the generated shapes: equal to the types of the sources, commented, and readable in errors. */
  async function checkShapes(folder: string, compile: (file: string) => Promise<unknown>): Promise<void> {
    const types = path.join(folder, 'node_modules', 'perennial-channel', 'dist', 'types');
    const shapes = await readFile(path.join(types, 'shapes.d.ts'), 'utf8');
    const fields = shapes.split('\n').filter((line) => /^ {4}(?!'\w+\/)[\w'-]+\??: /.test(line));
    expect(fields.length).toBeGreaterThan(100);
    expect(shapes.match(/^ {4}\/\*\* \S.* \*\/\n {4}[\w'-]+\??: /gm)).toHaveLength(fields.length);
    expect(shapes.match(/^ {4}\w+Encrypted\??: /gm)).toHaveLength(1);
    const compiled = path.join(sdk, 'dist', 'compiled', 'shapes.js');
    await writeFile(
      path.join(folder, 'shapes.ts'),
      `import type * as made from '${path.join(types, 'shapes.js')}';
      import type * as own from '${compiled}';
      type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;
      export const isSame: {
        requests: Same<made.RequestShapes, own.RequestShapes>; answers: Same<made.AnswerShapes, own.AnswerShapes>;
        events: Same<made.EventShapes, own.EventShapes>; sent: Same<made.EncryptedEventShapes, own.EncryptedEventShapes>;
      } = { requests: true, answers: true, events: true, sent: true };`,
    );
    await compile('shapes.ts');
    await writeFile(
      path.join(folder, 'wrong.ts'),
      `import type { PerennialClient } from 'perennial-channel';
      export const wrong = (client: PerennialClient) => client.agreements.bindConfirm({ bindOrderNo: '1' });`,
    );
    const { stdout } = await compile('wrong.ts').then(
      () => ({ stdout: '' }),
      (error: { stdout: string }) => error,
    );
    expect(stdout).toMatch(/Property 'smsCode' is missing in type .* but required in type 'BindConfirmRequest'/);
  }

  it('is as small as its page says', async () => {
    const [file, readme] = await Promise.all(
      ['dist/index.js', 'README.md'].map((name) => readFile(path.join(sdk, name))),
    );
    const said = readme?.toString().match(/(\d+) KB, (\d+) KB with gzip/);
    const [whole, zipped] = [file?.length ?? 0, gzipSync(file ?? '').length].map((bytes) => Math.round(bytes / 1000));
    expect(Math.abs(Number(said?.[1]) - (whole ?? 0))).toBeLessThanOrEqual(5);
    expect(Math.abs(Number(said?.[2]) - (zipped ?? 0))).toBeLessThanOrEqual(2);
    expect(zipped).toBeLessThan(45);
    expect(file?.toString()).not.toMatch(/\bfrom "|\bnode:|\bBuffer\b|\bprocess\./);
  });
});
