import net from 'node:net';
import { PATH_PREFIX } from '@perennial/wire';
import { beforeAll, describe, expect, it } from 'vitest';
import { stageOfFile } from '../orders/stage-of-file.js';
import { copyOrder, dailyProduct } from '../orders/support.js';
import { send } from '../support/channel-client.js';
import { collectRequest, unique } from '../support/demo.js';
import { until } from '../support/processes.js';
import { rawConnection, requestBytes } from '../support/raw-http.js';

/**
 * Tests pipelined requests, whose answers wait for one another. Node emits no event when the connection of a waiting
 * answer closes.
 */
const { on } = stageOfFile();
let longOrder: string;
const user = unique('user');
beforeAll(async () => {
  await dailyProduct(on.service, 'DAYS_9999', 9999);
  const request = collectRequest(on.channel, { channelUserId: user, productCode: 'DAYS_9999' });
  longOrder = (await on.channel.call('orders/create', request)).data.orderNo;
  await copyOrder(on.service.fresh.database, longOrder, 99);
});

async function metric(name: string): Promise<number> {
  const { text } = await send(on.service.baseUrl, 'GET', '/metrics', {}, Buffer.alloc(0));
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}
const openAnswers = () => metric('perennial_long_answers{state="open"}');
const hungUp = () => metric('perennial_http_answers_cut_total{why="hung-up"}');

/** Pipelines requests for long answers, which nobody reads, and then requests for short answers. */
async function sendUnread({ long, short }: { long: number; short: number }): Promise<net.Socket> {
  const token = await on.channel.getToken();
  const body = Buffer.from(JSON.stringify({ channelUserId: user }));
  const list = () => {
    const headers = { ...on.channel.signedHeaders('orders/list', body, { token }), 'Content-Length': `${body.length}` };
    return requestBytes(`${PATH_PREFIX}orders/list`, headers, body);
  };
  const nowhere = () => requestBytes('/nowhere', {}, '', 'GET');
  const { hostname, port } = new URL(on.service.baseUrl);
  const socket = net.connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(Buffer.concat([...Array.from({ length: long }, list), ...Array.from({ length: short }, nowhere)]));
  return socket;
}

describe('a caller that pipelines many requests and hangs up before the answers', () => {
  it('holds none of the places for long answers', async () => {
    const socket = await sendUnread({ long: 8, short: 0 });
    await until('eight long answers', async () => (await openAnswers()) === 8);
    socket.destroy();
    await until('no long answer', async () => (await openAnswers()) === 0);
    expect((await on.channel.call('orders/query', { orderNo: longOrder })).code).toBe('0');
  });

  it('leaks nothing: the end of each answer is detected', async () => {
    const before = await hungUp();
    const socket = await sendUnread({ long: 1, short: 16 });
    await until('the long answer', async () => (await openAnswers()) === 1);
    socket.resetAndDestroy();
    await until('all of them', async () => (await hungUp()) === before + 17);
  });

  it('beyond sixteen waiting requests the connection is closed, and the rest is not begun', async () => {
    const nowhere = () => metric('perennial_http_requests_total{endpoint="unknown",status="499",code=""}');
    const [before, cut] = [await nowhere(), await hungUp()];
    const socket = await sendUnread({ long: 1, short: 3_000 });
    await until('the end of all that were begun', async () => (await hungUp()) === cut + 17);
    expect((await nowhere()) - before).toBe(16);
    expect(await openAnswers()).toBe(0);
    socket.destroy();
    expect((await on.channel.call('orders/query', { orderNo: longOrder })).code).toBe('0');
  });
});

it('seventeen short pipelined requests are all answered', async () => {
  const raw = rawConnection(on.service.baseUrl);
  raw.write(Buffer.concat(Array.from({ length: 17 }, (_, n) => requestBytes(`/nowhere/${n}`, {}, '', 'GET'))));
  expect((await raw.replies(17)).map(({ code }) => code)).toEqual(Array.from({ length: 17 }, () => '404001'));
  raw.close();
});

it('all headers are read, however many there are', async () => {
  const token = await on.channel.getToken();
  const body = Buffer.from('{}');
  const many = Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`a${n.toString(36)}`, '']));
  const signed = on.channel.signedHeaders('products/list', body, { token });
  const headers = { ...many, ...signed, 'Content-Length': String(body.length) };
  const raw = rawConnection(on.service.baseUrl);
  raw.write(requestBytes(`${PATH_PREFIX}products/list`, headers, body));
  expect((await raw.replies(1))[0]?.code).toBe('0');
  raw.close();
});
