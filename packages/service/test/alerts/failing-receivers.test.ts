import { beforeEach, expect, it } from 'vitest';
import { pauseEvents, resumeEvents } from '../../src/operator/events/events.js';
import { setCallback } from '../../src/operator/provisioning/channel-settings.js';
import { createChannel } from '../../src/operator/provisioning/channels.js';
import { personOfFile } from '../console/support.js';
import { ofFile } from '../orders/stage-of-file.js';
import { until } from '../support/processes.js';
import { anotherNode, type Node } from '../support/second-node.js';
import { testService } from '../support/service.js';
import { type ReceivedPush, startReceiver } from '../webhooks/receiver.js';

/** The service without an engine. Nodes with an engine are started for it, and stopped. */
const service = ofFile(() => testService());
const receiver = ofFile(() => startReceiver());
const viewer = personOfFile(() => service, 'viewer');
const sql = <Row extends object>(text: string, values: readonly unknown[] = []) =>
  service.fresh.database.query<Row>(text, values);

const startNode = () =>
  anotherNode(service, {
    engine: true,
    localCallbacks: true,
    testLimits: { healthSeconds: 0.02, alertSeconds: { resolved: 0.02, messages: 3600 } },
  });
let node: Node;
ofFile(async () => {
  node = await startNode();
  return { close: () => node.close() };
});

/** The paths that answer 500. */
const failing = new Set<string>();
beforeEach(async () => {
  failing.clear();
  receiver.answer(({ path }: ReceivedPush) => (failing.has(path) ? { status: 500, body: 'down' } : 'accept'));
  await sql('truncate alerts, due_events');
});

const operator = () => ({ ...service.operator, localCallbacks: true });
const addressOf = (path: string) => new URL(path, receiver.url).href;

async function createReceiver(path: string): Promise<string> {
  const { appId, callbackSecret } = await createChannel(operator(), { name: path });
  receiver.know(appId, callbackSecret);
  await setCallback(operator(), { appId, url: addressOf(path) });
  return appId;
}

/** Writes events of the channel, and waits until each was pushed once. */
async function push(appId: string, count: number, eventType = 'order.status.changed'): Promise<void> {
  const written = await sql<{ id: string }>(
    `insert into events (channel_id, order_no, event_type, cycle_no, occurred_at, data)
     select channel_id, n, $3, case $3 when 'payment.status.changed' then 1 end, now(), '{"orderNo":"1"}' from channels, generate_series(1, $2::integer) n where app_id = $1
     returning event_no::text as id`,
    [appId, count, eventType],
  );
  await receiver.until(() => {
    const received = new Set(receiver.pushes.map(({ eventId }) => eventId));
    return written.every(({ id }) => received.has(id));
  });
}

const lineOf = async (appId: string) => (await viewer.get(`/events/channels?appId=${appId}`)).body.channels[0];
const failingAddresses = async (appId: string): Promise<string[]> =>
  (await lineOf(appId)).callbackUrls
    .filter((one: { failingSince: string | null }) => one.failingSince !== null)
    .map(({ url }: { url: string }) => new URL(url).pathname);
const openAlerts = async (): Promise<{ subject: string; detail: string; seen: number }[]> =>
  (await viewer.get('/alerts?kind=webhook-failing')).body.alerts;
const alerted = async () => (await openAlerts()).map(({ subject }) => subject).toSorted();
/** Lets time pass by the database's clock. */
const passMinutes = (minutes: number) =>
  sql(
    `update callback_urls set answered_at = answered_at - i, failed_at = failed_at - i, failing_since = failing_since - i
     from (select $1 * interval '1 min' as i) passed`,
    [minutes],
  );
/** Waits until the jobs have run again: an alert about another channel is raised and ended. */
async function jobsHaveRun(): Promise<void> {
  const subject = `canary-${Math.random()}`;
  await sql(
    `insert into alerts (kind, subject, detail, first_seen_at, last_seen_at) values ('webhook-failing', $1, '', now(), now())`,
    [subject],
  );
  await until('the end of an alert', async () => !(await alerted()).includes(subject));
}

it('a receiver that fails after many accepted pushes is shown at once, and raises an alert after ten minutes', async () => {
  const appId = await createReceiver('/turns');
  await push(appId, 100);
  expect(await lineOf(appId)).toMatchObject({ callbackUrls: [{ failingSince: null }] });
  failing.add('/turns');
  await push(appId, 5);
  await until('the state', async () => (await failingAddresses(appId)).length === 1);
  await passMinutes(9);
  await jobsHaveRun();
  expect(await alerted()).toEqual([]);
  await passMinutes(1);
  await until('the alert', async () => (await alerted()).includes(appId));
  await jobsHaveRun();
  const since = expect.stringMatching(
    /^localhost:\d+ has accepted no push since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: 5 pushes have failed$/,
  );
  expect(await openAlerts()).toMatchObject([{ subject: appId, seen: 1, detail: since }]);

  failing.clear();
  await push(appId, 1);
  await until('the end of the alert', async () => (await alerted()).length === 0);
  expect(await failingAddresses(appId)).toEqual([]);
});

it('each channel and each address is judged alone', async () => {
  const paths = Array.from({ length: 20 }, (_, n) => `/many/${n}`);
  const appIds = await Promise.all(paths.map(createReceiver));
  const [first = ''] = appIds;
  await setCallback(operator(), { appId: first, eventType: 'payment.status.changed', url: addressOf('/payments') });
  failing.add('/payments').add('/many/7').add('/many/8');
  await Promise.all(appIds.map((appId) => push(appId, 4)));
  await push(first, 4, 'payment.status.changed');
  const wrong = [first, appIds[7], appIds[8]].toSorted();
  await until('the failures', async () => {
    const lists = await Promise.all(wrong.map((appId = '') => failingAddresses(appId)));
    return lists.every(({ length }) => length > 0);
  });
  expect(await failingAddresses(first)).toEqual(['/payments']);
  await passMinutes(10);
  await until('the alerts', async () => (await alerted()).length === wrong.length);
  // Accepted pushes to another address do not end the alert.
  await push(first, 10);
  // A later push that fails is stored with the accepted pushes or after them.
  const failures = async () => {
    const [row] = await sql<{ failures: number }>('select failures from callback_urls where url = $1', [
      addressOf('/payments'),
    ]);
    return row?.failures ?? 0;
  };
  const before = await failures();
  await push(first, 1, 'payment.status.changed');
  await until('the next failure', async () => (await failures()) > before);
  await jobsHaveRun();
  expect(await alerted()).toEqual(wrong);
});

it('an alert ends when the address is replaced, and the new address is judged from its first push', async () => {
  const appId = await createReceiver('/old');
  failing.add('/old').add('/new');
  await push(appId, 4);
  await until('the failures', async () => (await failingAddresses(appId)).length === 1);
  await passMinutes(10);
  await until('the alert', async () => (await alerted()).length === 1);
  await setCallback(operator(), { appId, url: addressOf('/new') });
  await until('the end of the alert', async () => (await alerted()).length === 0);
  await push(appId, 4);
  await until('the failures', async () => (await failingAddresses(appId)).length === 1);
  await jobsHaveRun();
  expect(await alerted()).toEqual([]);
});

it('a restart of the node neither ends nor delays an alert', async () => {
  const appId = await createReceiver('/restarted');
  failing.add('/restarted');
  await push(appId, 4);
  await until('the failures', async () => (await failingAddresses(appId)).length === 1);
  await passMinutes(6);
  const since = (await lineOf(appId)).callbackUrls[0].failingSince;
  await node.close();
  node = await startNode();
  await push(appId, 4);
  await passMinutes(4);
  const [alert] = await until('the alert', async () => {
    const open = await openAlerts();
    return open.length > 0 ? open : undefined;
  });
  expect(Date.parse(alert?.detail.match(/since (.{19})/)?.[1] ?? '')).toBe(Date.parse(since) - 4 * 60_000);
});

it('a paused address, and one whose events were all accepted, raises no alert', async () => {
  const [paused, done] = [await createReceiver('/paused'), await createReceiver('/done')];
  failing.add('/paused').add('/done');
  await push(paused, 4);
  await push(done, 4);
  const both = async () => [...(await failingAddresses(paused)), ...(await failingAddresses(done))];
  await until('the failures', async () => (await both()).length === 2);
  await pauseEvents(operator(), { appId: paused });
  // As if the node had been killed after the last outcome was stored and before the health was stored.
  await sql('delete from due_events where channel_id = (select channel_id from channels where app_id = $1)', [done]);
  await passMinutes(10);
  await jobsHaveRun();
  expect(await alerted()).toEqual([]);
  expect(await failingAddresses(done)).toEqual([]);
  await resumeEvents(operator(), { appId: paused });
  await until('the alert', async () => (await alerted()).includes(paused));
});
