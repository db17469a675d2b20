// First signed calls to the service: a token, then the channel's products. Prints every part that is signed. The
// signing itself is in client.mjs.
//
//   node examples/first-call.mjs [path to demo-channel.json]
import { print, readChannel, send, stop } from './client.mjs';

const channel = readChannel();

const { accessToken } = await call('auth/token', { grantType: 'client_credentials', appId: channel.appId });
const { items } = await call('products/list', {}, accessToken);

print('Products of this channel:');
for (const { productCode, productName, totalCycles, period, periodType, amountCent } of items) {
  print(
    `  ${productCode}: ${productName}, ${totalCycles} x ${period} ${periodType}, ${(amountCent / 100).toFixed(2)} each`,
  );
}

/** Sends one request, prints the request and its answer, and returns the answer's data. */
async function call(endpoint, content, token) {
  const { sent, status, answer } = await send(channel, endpoint, content, { token });

  print(`POST ${sent.url}`);
  print(`${sent.body}\n`);
  print('Signed text');
  for (const line of sent.signText.split('\n')) print(`  ${line || '(empty)'}`);
  print(`Signature\n  ${sent.signature}\n`);

  print(`Answer, HTTP ${status}`);
  print(`${JSON.stringify(answer, shortenToken, 2).replace(/^/gm, '  ')}\n`);
  if (answer.code !== '0') stop(`${endpoint} was refused: ${answer.code} ${answer.message}`);
  return answer.data;
}

function shortenToken(key, value) {
  return key === 'accessToken' ? `${value.slice(0, 8)}...` : value;
}
