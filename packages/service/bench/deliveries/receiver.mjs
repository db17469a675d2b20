// The channels' receivers in a separate process. Each accepting receiver has its own port, and one more receiver never
// answers. The receivers are minimal and check nothing, because they share the machine's cores with the measured
// senders.
import { once } from 'node:events';
import net from 'node:net';
import { answer } from '../renewals/answer.mjs';

const BODY = '{"code":"0"}';
const ACCEPTED = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
);
const END_OF_HEADERS = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)/i;

/** The time of each answer, in Unix milliseconds. */
let answeredAt = [];

answer({
  /** Each answer is sent after `delayMs`. */
  async open({ receivers, delayMs = 0 }) {
    const accepting = Array.from({ length: receivers }, () => listen((socket) => accept(socket, delayMs)));
    return { accepting: await Promise.all(accepting), hung: await listen((socket) => socket.resume()) };
  },
  forget() {
    answeredAt = [];
  },
  count: () => answeredAt.length,
  /** Returns the number of pushes that arrived, and quantiles of the seconds from `moment` to their answers. */
  since({ moment }) {
    const seconds = answeredAt.map((at) => (at - moment) / 1000).sort((a, b) => a - b);
    const quantile = (share) => seconds[Math.min(seconds.length - 1, Math.floor(seconds.length * share))];
    return { count: seconds.length, p50: quantile(0.5), p99: quantile(0.99), last: seconds.at(-1) };
  },
});

async function listen(serve) {
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

/**
 * Handles a connection's requests one after another, because clients wait for an answer before the next request.
 */
function accept(socket, delayMs) {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text = text === '' ? chunk : text + chunk;
    const body = text.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length;
    if (body < END_OF_HEADERS.length || text.length < body + Number(LENGTH.exec(text)?.[1])) return;
    text = '';
    const accepted = () => {
      answeredAt.push(Date.now());
      socket.write(ACCEPTED);
    };
    if (delayMs > 0) setTimeout(accepted, delayMs);
    else accepted();
  });
}
