// A sample shop that uses perennial-channel: sells subscriptions in all three ways, receives events, and leads users to
// their benefits.
//
//   node examples/shop/shop.mjs [path to demo-channel.json] [port]
import { readFileSync } from 'node:fs';
import path from 'node:path';

const channelFile = process.argv[2] ?? path.join(process.env['DATA_DIR'] ?? 'data', 'demo-channel.json');
const port = Number(process.argv[3] ?? process.env['SHOP_PORT'] ?? 3100);

const channel = readChannel();
// Imported only after readChannel(). Before the first npm start, both the channel's file and the SDK are missing.
// readChannel() then explains what to do; a failed import would not.
const { PerennialClient, PerennialConnectionError } = await import('perennial-channel');
const { createSelling } = await import('./selling.mjs');
const { createEventReceiver } = await import('./events.mjs');
const { createShopServer } = await import('./web.mjs');
const { openStore } = await import('./store.mjs');

const client = new PerennialClient({
  baseUrl: channel.baseUrl,
  appId: channel.appId,
  appSecret: channel.appSecret,
  aesKey: channel.aesKey,
  // One retry only, because a user is waiting. A call that is still unanswered is repeated later with the same key.
  retries: 1,
});
await checkService();

const store = await openStore(path.join(path.dirname(channelFile), 'shop.json'));
const selling = createSelling({ client, store });
const receiveEvent = createEventReceiver({ channel, store, selling });
const server = createShopServer({ store, selling, receiveEvent, appId: channel.appId });

server.on('error', (error) => stop(`it cannot listen: ${error.message}`));
server.listen(port, '127.0.0.1', () => {
  const { port } = server.address();
  print(`The shop is open at http://127.0.0.1:${port}`);
  print(`Events go to        http://localhost:${port}/events`);
});
// Repeats the creations of orders that got no answer, for example because of a crash.
await selling.resumeAll();

function readChannel() {
  try {
    return JSON.parse(readFileSync(channelFile, 'utf8'));
  } catch {
    return stop(`${channelFile} cannot be read: npm start writes it; set DATA_DIR, or name the file`);
  }
}

async function checkService() {
  try {
    await client.products.list({ size: 1 });
  } catch (error) {
    if (error instanceof PerennialConnectionError && error.reason === 'connection')
      stop(`nothing answers at ${channel.baseUrl}: start the service with npm start`);
    stop(`the service at ${channel.baseUrl} refuses: ${error.message} (request ${error.requestId})`);
  }
}

function print(line) {
  process.stdout.write(`${line}\n`);
}

function stop(reason) {
  process.stderr.write(`shop: ${reason}\n`);
  process.exit(1);
}
