import net, { type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { debitOf, startWorld, until } from './support/world.js';

const SENDERS = 200;
/** The bytes that each sender sends. It declares a body of a megabyte. */
const SENT = 600_000;
/** The maximum number of bodies that the bridge keeps: the bodies of one address may use 16 MiB. */
const KEPT = Math.floor((16 * 2 ** 20) / SENT);

it('unfinished bodies of strangers are refused beyond 16 MiB, and the service is still served', async () => {
  const world = await startWorld();
  const { port } = new URL(world.bridge.url);
  const senders = Array.from({ length: SENDERS }, () => openUnfinished(Number(port)));
  await until('the refusals', () => senders.filter(({ status }) => status() === 503).length >= SENDERS - KEPT);
  expect(senders.map(({ status }) => status()).filter((status) => status !== undefined && status !== 503)).toEqual([]);
  expect((await world.ask('debit', debitOf('D1', { institutionNo: 'SLOW' }))).fields).toMatchObject({
    status: 'PENDING',
  });

  for (const { socket } of senders) socket.destroy();
  const outcome = { status: 'DECLINED', decline: 'FINAL', reason: 'no' };
  const told = [{ about: 'debit', attemptNo: 'D1', outcome }];
  await until('room for webhooks', async () => (await world.tell(told)) === 200);
});

it('one address gets at most 2,000 connections, so that others can still connect', async () => {
  const world = await startWorld();
  const { port } = new URL(world.bridge.url);
  const sockets = Array.from({ length: 2_100 }, () => net.connect(Number(port), '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  let answered = 0;
  let refused = 0;
  for (const socket of sockets) {
    // After an answer the connection stays open for 75 s.
    socket.write('GET /none HTTP/1.1\r\nhost: bridge\r\n\r\n');
    let isAnswered = false;
    socket
      .on('error', () => undefined)
      .once('data', () => {
        isAnswered = true;
        answered += 1;
      })
      .on('close', () => {
        if (!isAnswered) refused += 1;
      });
  }
  await until('an end of every request', () => answered + refused === sockets.length);
  // The connections of this test itself count too.
  expect(answered).toBeLessThanOrEqual(2_000);
  for (const socket of sockets) socket.destroy();
  await until('room for the service', () =>
    world.ask('debit', debitOf('D1')).then(
      () => true,
      () => false,
    ),
  );
});

/**
 * Begins a webhook without finishing its body. `status` returns the HTTP status of the response, or undefined if there
 * is no response yet.
 */
function openUnfinished(port: number): { readonly socket: Socket; status(): number | undefined } {
  const socket = net.connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  // The bridge may close the connection while the sender still writes.
  socket.on('error', () => undefined);
  socket.write(
    'POST /webhooks HTTP/1.1\r\nhost: bridge\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n',
  );
  socket.write(Buffer.alloc(SENT, 'x'));
  return { socket, status: () => (text === '' ? undefined : Number(text.split(' ')[1])) };
}
