import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { PerennialClient, verifyWebhook, type WebhookEvent } from 'perennial-channel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gate } from '../agreements/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { freePort } from '../support/free-port.js';
import { listen as listenOn } from '../support/listen.js';
import { type Running, start, until } from '../support/processes.js';
import { CHANNEL_COMMAND, type KitService, kitService, runCommand } from './support.js';

/** Creates a developer's receiver, which uses the SDK and records all events. */
function createReceiver(kit: KitService, port: number) {
  const { callbackSecret, aesKey } = kit.credentials;
  const came: WebhookEvent[] = [];
  const problems: unknown[] = [];
  const refusing = {
    isRefusing: (_event: WebhookEvent) => false,
    /** Runs before it answers. */
    work: async (_event: WebhookEvent): Promise<void> => undefined,
  };
  let server: http.Server | undefined;
  const handle: http.RequestListener = async (request, response) => {
    const rawBody = await buffer(request);
    const answer = (status: number, code: string) => response.writeHead(status).end(JSON.stringify({ code }));
    try {
      const { url = '', headers } = request;
      const event = verifyWebhook({ callbackSecret, aesKey, path: url, headers, rawBody });
      if (refusing.isRefusing(event)) return answer(500, 'not now');
      came.push(event);
      await refusing.work(event);
      return answer(200, '0');
    } catch (error) {
      problems.push(error);
      return answer(401, 'no');
    }
  };
  return {
    url: `http://127.0.0.1:${port}/hooks/perennial`,
    came,
    problems,
    refusing,
    async open() {
      server = http.createServer(handle);
      await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    },
    async close() {
      await new Promise((resolve) => server?.close(resolve));
    },
  };
}

const kit = ofFile(kitService);
let client: PerennialClient;
let receiver: ReturnType<typeof createReceiver>;
const started: Running[] = [];
beforeAll(async () => {
  client = new PerennialClient({ ...kit.credentials, baseUrl: kit.baseUrl });
  receiver = createReceiver(kit, await freePort());
  await receiver.open();
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await receiver.close();
});

function listen(...more: readonly string[]): Running {
  const args = ['listen', '--forward', receiver.url, '--channel', kit.file, ...more];
  const running = start(CHANNEL_COMMAND, {}, args);
  started.push(running);
  return running;
}

const isReady = (running: Running) =>
  until(`a listener (${running.stderr()})`, () => {
    if (running.child.exitCode !== null) throw new Error(`it ended: ${running.stderr()}`);
    return running.stderr().match(/progress is stored in (.*)/)?.[1];
  });

/**
 * Creates orders in modes A.2 and B. One of them is unsubscribed and has voided periods. Returns the ids of all their
 * events.
 */
async function makeEvents(): Promise<string[]> {
  const orders: string[] = [];
  for (const argv of [
    ['payment-recovered'],
    ['unsubscribed', '--settlement-mode', 'CHANNEL_COLLECT', '--product-code', 'TEST_SPU_DAILY_7'],
  ]) {
    const { json, err } = await kit.run(['trigger', ...argv, '--json']);
    if (!json) throw new Error(err);
    orders.push(json.order.orderNo);
  }
  return (await pulled()).filter(({ orderNo }) => orders.includes(orderNo)).map(({ eventId }) => eventId);
}

/** Returns the id and the order number of every event. */
async function pulled(): Promise<{ eventId: string; orderNo: string }[]> {
  const found: { eventId: string; orderNo: string }[] = [];
  for await (const { eventId, body } of client.sandbox.events.pullAll({ path: '/' })) {
    found.push({ eventId, orderNo: JSON.parse(body).data.orderNo });
  }
  return found;
}

const haveCome = (ids: readonly string[]) =>
  until(`all of ${ids}`, () => ids.every((id) => receiver.came.some(({ eventId }) => eventId === id)));

/** Waits until the state file has all of these event ids, so that no event is in flight. */
const isIdle = (state: string, ids: readonly string[]) =>
  until('a state that has them all', async () => {
    const text = await readFile(state, 'utf8');
    return ids.every((id) => text.includes(`"${id}"`));
  });

const times = (text: string, what: string) => text.split(what).length - 1;

describe('listen', () => {
  it('forwards each event once, despite restarts and outages', async () => {
    const before = await makeEvents();
    const first = listen();
    const state = await isReady(first);
    expect(path.dirname(state)).toBe(kit.folder);
    const expected = await makeEvents();
    await haveCome(expected);
    await isIdle(state, expected);

    const second = await kit.run(['listen', '--forward', receiver.url]);
    expect(second).toMatchObject({
      status: 1,
      err: expect.stringContaining(`process ${first.pid} is already listening`),
    });

    first.child.kill('SIGTERM');
    expect(await first.exited).toBe(0);
    expect(first.stderr()).toContain(`${expected.length} forwarded`);
    expect(times(first.stdout(), ' 200 code 0 ')).toBe(expected.length);
    expect(first.stdout()).toMatch(
      /^\d+-7 .* payment\.status\.changed {2}order \d+ {2}period 7 CANCELED {2}200 code 0/m,
    );

    expected.push(...(await makeEvents()));
    const again = listen();
    await haveCome(expected);
    await isIdle(state, expected.slice(-1));
    again.child.kill('SIGKILL');
    await again.exited;

    expected.push(...(await makeEvents()));
    const busy = listen();
    await haveCome(expected);
    // The program is killed during a push. After a restart it repeats this push, but no earlier one.
    const [inFlight, held] = [receiver.came.length + 4, new AbortController()];
    receiver.refusing.work = async () => {
      if (receiver.came.length === inFlight && !held.signal.aborted) await once(held.signal, 'abort');
    };
    const during = await makeEvents();
    await until('a push under way', () => receiver.came.length === inFlight);
    busy.child.kill('SIGKILL');
    await busy.exited;
    held.abort();
    const twice = receiver.came.at(-1)?.eventId ?? '';
    expected.push(...during, twice);
    const third = listen();
    await until('all of them', () => receiver.came.length >= expected.length);
    await haveCome(expected);

    await receiver.close();
    const [lost] = await Promise.all([
      makeEvents(),
      until('a listener that waits', () => third.stderr().includes('waiting for the receiver')),
    ]);
    expected.push(...lost);
    await receiver.open();
    await haveCome(expected);
    expect(times(third.stderr(), 'waiting for the receiver')).toBe(1);
    expect(times(third.stderr(), 'the receiver is back')).toBe(1);

    await kit.stop();
    await until('a listener that waits', () => third.stderr().includes('waiting for the service'));
    await kit.start();
    expected.push(...(await makeEvents()));
    await haveCome(expected);
    expect(times(third.stderr(), 'waiting for the service')).toBe(1);

    const ids = new Set<string>();
    receiver.refusing.isRefusing = ({ eventId, data }) =>
      'orderStatus' in data && data.orderStatus === 'UNSUBSCRIBED' && Boolean(ids.add(eventId));
    const partly = await makeEvents();
    await until('a refused one', () => ids.size === 1);
    const [refused = ''] = ids;
    await haveCome(partly.filter((id) => id !== refused));
    expect(third.stdout()).toMatch(new RegExp(`^${refused} .* order\\.status\\.changed .* HTTP 500 {2}\\d+ ms$`, 'm'));
    third.child.kill('SIGINT');
    expect(await third.exited).toBe(0);
    expect(third.stderr()).toContain(`not accepted: ${refused}; to resend them: the same command with --again`);
    receiver.refusing.isRefusing = () => false;
    const last = listen('--again', '--json');
    await haveCome(partly);
    expected.push(...partly);
    await isIdle(
      state,
      ['refused"'].map((word) => word.slice(0, -1)),
    );
    last.child.kill('SIGTERM');
    expect(await last.exited).toBe(0);
    const lines = last
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => Object.keys(line)[0])).toEqual(['listening', 'eventId', 'ended']);
    expect(lines[1]).toMatchObject({ eventId: refused, answer: { kind: 'accepted', status: 200 } });
    expect(lines[2]).toEqual({ ended: true, forwarded: 1, refused: [] });

    expect(receiver.problems).toEqual([]);
    expect(receiver.came.map(({ eventId }) => eventId).toSorted()).toEqual(expected.toSorted());
    expect((await pulled()).map(({ eventId }) => eventId).toSorted()).toEqual(
      [...new Set([...before, ...expected])].toSorted(),
    );
    const mobiles = receiver.came.flatMap(({ data }) => ('mobile' in data ? (data.mobile ?? []) : []));
    expect(mobiles.length).toBeGreaterThan(5);
    for (const mobile of mobiles) expect(mobile).toMatch(/^1\d{10}$/);
    const { appSecret, aesKey, callbackSecret } = kit.credentials;
    const said = started.map((one) => one.stdout() + one.stderr()).join('');
    for (const secret of [appSecret, aesKey, callbackSecret]) expect(said).not.toContain(secret);
  });

  it('starts at the given time, with the given types', async () => {
    const all = await pulled();
    const stop = new AbortController();
    const state = path.join(kit.folder, 'another', 'state.json');
    const already = receiver.came.length;
    const expected = receiver.came.filter(({ eventType }) => eventType === 'order.status.changed');
    const more = ['--since', '2026-01-01 00:00:00', '--events', 'order.status.changed', '--state', state];
    const listening = kit.run(['listen', '--forward', receiver.url, ...more], { stop: stop.signal });
    const orderEvents = async () => {
      const came = receiver.came.slice(already);
      return came.length >= expected.length && came.every(({ eventType }) => eventType === 'order.status.changed');
    };
    await until('all of the past', orderEvents);
    stop.abort();
    expect(await listening).toMatchObject({ status: 0 });
    const ids = receiver.came.slice(already).map(({ eventId }) => eventId);
    expect(all.map(({ eventId }) => eventId).filter((id) => ids.includes(id))).toEqual(ids);
  });

  it('does not miss an event committed late, and finishes the push in flight when stopped', async () => {
    const { database } = kit.operator;
    const stop = new AbortController();
    const ready = gate();
    const state = path.join(kit.folder, 'late.json');
    const listening = kit.run(['listen', '--forward', receiver.url, '--state', state, '--json'], {
      stop: stop.signal,
      onLine: (line) => line.startsWith('{"listening"') && ready.open(),
    });
    await ready.passed;
    await haveCome(await makeEvents());
    const late = await database.transaction(async (tx) => {
      const [row] = await tx.query<{ id: string }>(
        `insert into events (channel_id, order_no, event_type, occurred_at, data)
         select channel_id, order_no, event_type, occurred_at, data from events where cycle_no is null limit 1
         returning event_no::text as id`,
      );
      await haveCome(await makeEvents());
      return row?.id ?? '';
    });
    await haveCome([late]);

    const work = gate();
    receiver.refusing.work = () => work.passed;
    const [last = ''] = await makeEvents();
    await haveCome([last]);
    stop.abort();
    work.open();
    const { status, out } = await listening;
    receiver.refusing.work = async () => undefined;
    expect(status).toBe(0);
    expect(out).toContain(`{"eventId":"${last}"`);
    expect(JSON.parse(await readFile(state, 'utf8')).forwarded).toHaveProperty([last]);
    const ids = receiver.came.map(({ eventId }) => eventId).filter((id) => id === late || id === last);
    expect(ids).toEqual([late, last]);
  });

  it('1: a refused channel, or a service that is not a sandbox', async () => {
    const { appId, appSecret, callbackSecret } = kit.credentials;
    const env = {
      PERENNIAL_BASE_URL: kit.baseUrl,
      PERENNIAL_APP_ID: appId,
      PERENNIAL_APP_SECRET: Buffer.alloc(32, 7).toString('base64'),
      PERENNIAL_AES_KEY: appSecret,
      PERENNIAL_CALLBACK_SECRET: callbackSecret,
    };
    const state = path.join(kit.folder, 'refused.json');
    const argv = ['listen', '--forward', receiver.url, '--state', state];
    expect(await runCommand(argv, { env })).toMatchObject({ status: 1, err: expect.stringContaining('401002') });
  });
});

describe('listen with a back-log of one second', () => {
  const COUNT = 700;
  const writtenAt = '2026-01-31 08:00:00';
  const idOf = (place: number) => `4711-${place + 1}`;
  const pushOf = (place: number, eventType: string, data: unknown) => ({
    ...{ eventId: idOf(place), eventType, occurredAt: writtenAt, writtenAt },
    headers: {
      ...{ 'Content-Type': 'application/json', 'X-SVC-App-Id': 'a', 'X-SVC-Event-Id': idOf(place) },
      ...{ 'X-SVC-Timestamp': '1', 'X-SVC-Nonce': 'n', 'X-SVC-Signature': 's' },
    },
    body: JSON.stringify({ data }),
  });
  const backLog = Array.from({ length: COUNT }, (_, place) =>
    pushOf(place, 'payment.status.changed', { orderNo: '1', cycleNo: place + 1, paymentStatus: 'CANCELED' }),
  );
  const all = backLog.map(({ eventId }) => eventId);
  async function serve(handle: (request: http.IncomingMessage, body: string) => object): Promise<string> {
    const server = http.createServer(async (request, response) => {
      response.end(JSON.stringify(handle(request, await text(request))));
    });
    return `http://127.0.0.1:${await listenOn(server)}`;
  }

  interface Play {
    readonly state: string;
    /** The service's events. */
    readonly pushes?: typeof backLog;
    /** Returns whether the receiver accepts the event. */
    readonly onPush: (eventId: string, stop: () => void) => boolean;
    readonly more?: readonly string[];
  }

  /** Starts a service and a listener. The listener ends when `onPush` stops it. */
  async function play({ state, pushes = backLog, onPush, more = [] }: Play) {
    const stop = new AbortController();
    const [came, asked]: [string[], string[]] = [[], []];
    const baseUrl = await serve(({ url = '' }, body) => {
      const { cursor } = JSON.parse(body) as { cursor?: string };
      const at = Number(cursor ?? 0);
      if (!url.endsWith('token')) asked.push(`${came.length}`);
      const nextCursor = at + 100 < pushes.length ? String(at + 100) : null;
      const pulled = { pushes: pushes.slice(at, at + 100), readAt: '2026-02-01 08:00:00', nextCursor };
      const token = { accessToken: 'a'.repeat(40), expiresIn: '7200', expiresAt: '2099-01-01 00:00:00' };
      return { code: '0', message: 'ok', requestId: 'r', data: url.endsWith('token') ? token : pulled };
    });
    const forward = await serve(({ headers }) => {
      const eventId = String(headers['x-svc-event-id']);
      came.push(eventId);
      return { code: onPush(eventId, () => stop.abort()) ? '0' : 'no' };
    });
    const argv = ['listen', '--forward', `${forward}/events`, '--base-url', baseUrl, '--state', state, ...more];
    const { status, out, err } = await kit.run(argv, { stop: stop.signal });
    expect([status, err]).toEqual([0, expect.stringContaining('forwarded')]);
    return { came, asked, out };
  }

  it('describes each event, also of unknown types', async () => {
    const period = { orderNo: '1', cycleNo: 2, expectPayTime: writtenAt };
    const told: readonly (readonly [eventType: string, data: unknown, line: string])[] = [
      ['order.status.changed', { orderNo: '1', orderStatus: 'ACTIVE' }, 'order 1  ACTIVE'],
      ['payment.status.changed', { ...period, paymentStatus: 'SUCCESS' }, 'order 1  period 2 SUCCESS'],
      ['payment.upcoming', period, `order 1  period 2 is due ${writtenAt}`],
      ['payment.upcoming', { orderNo: '1' }, 'order 1'],
      ['refund.status.changed', period, 'order 1  period 2'],
      ['channel.closed', { reason: { deep: [1] }, orderNo: null }, ''],
      ['channel.closed', 'closed', ''],
      ['channel.closed', null, ''],
      ['channel.closed', undefined, ''],
    ];
    const last = idOf(told.length - 1);
    const { out } = await play({
      state: path.join(kit.folder, 'types.json'),
      pushes: told.map(([eventType, data], place) => pushOf(place, eventType, data)),
      onPush: (eventId, stop) => {
        if (eventId === last) stop();
        return true;
      },
      more: ['--since', '2026-01-01 00:00:00'],
    });
    expect(out.split('\n').map((line) => line.replace(/ {2}200 code 0 {2}\d+ ms$/, ''))).toEqual(
      told.map(([eventType, , line], place) =>
        [idOf(place).padEnd(8), writtenAt, eventType, line].filter((part) => part !== '').join('  '),
      ),
    );
  });

  it('appends to its state after each push, and loses nothing when killed', async () => {
    const state = path.join(kit.folder, 'back-log.json');
    const left: { readonly whole: string; readonly file: number }[] = [];
    const isRefused = (eventId: string) => all.indexOf(eventId) % 7 === 0;
    const first = await play({
      state,
      onPush: (eventId, stop) => {
        left.push({ whole: readFileSync(state, 'utf8'), file: statSync(state).ino });
        if (eventId === all.at(-1)) stop();
        return !isRefused(eventId);
      },
      more: ['--since', '2026-01-01 00:00:00'],
    });
    expect(first.came).toEqual(all);
    const written = left.filter(({ file }, place) => file !== left[place - 1]?.file);
    expect(written.length).toBeLessThan(5);

    // Continues from the state file as it was during the fifth push from the end. Does the same with the last line of
    // that file truncated.
    const inFlight = all.length - 5;
    const { whole = '' } = left[inFlight] ?? {};
    for (const [text, from] of [
      [whole, inFlight],
      [whole.slice(0, -10), inFlight - 1],
    ] as const) {
      await writeFile(state, text);
      const again = await play({
        state,
        onPush: (eventId, stop) => {
          if (eventId === all.at(-1)) stop();
          return true;
        },
      });
      expect(again.came).toEqual(all.slice(from));
    }

    // Sends all refused events again, in one pass through the pages.
    const refused = all.filter(isRefused);
    const expected = refused.filter((eventId) => all.indexOf(eventId) < inFlight - 1);
    const last = await play({
      state,
      onPush: (eventId, stop) => {
        if (eventId === expected.at(-1)) stop();
        return true;
      },
      more: ['--again'],
    });
    expect(last.came).toEqual(expected);
    expect(last.asked.length).toBeLessThanOrEqual(COUNT / 100 + 1);
    expect(JSON.parse(await readFile(state, 'utf8')).refused).toEqual({});
  });
});
