// First signed calls to the service: a token, then the products of the channel. On Node's own modules only.
//
//   node examples/first-call.mjs [path to demo-channel.json]
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const print = (text = '') => process.stdout.write(`${text}\n`);

const file = process.argv[2] ?? 'data/demo-channel.json';
const channel = readChannel(file);
const appSecret = Buffer.from(channel.appSecret, 'base64');

const { accessToken } = await call('auth/token', { grantType: 'client_credentials', appId: channel.appId });
const { items } = await call('products/list', {}, accessToken);

print('Products of this channel:');
for (const { productCode, productName, totalCycles, period, periodType, amountCent } of items) {
  print(
    `  ${productCode}: ${productName}, ${totalCycles} x ${period} ${periodType}, ${(amountCent / 100).toFixed(2)} each`,
  );
}

/** Signs and sends one request, shows both sides of it, and gives back the answer's data. */
async function call(endpoint, content, token) {
  const path = `/openapi/v1/${endpoint}`;
  const body = Buffer.from(JSON.stringify(content));
  const timestamp = String(Date.now());
  const nonce = randomBytes(16).toString('hex');
  const requestId = randomUUID();

  // Seven lines; the third is the query string, which is empty. The digest is over the bytes that are sent.
  const digest = createHash('sha256').update(body).digest('hex');
  const signText = ['POST', path, '', digest, timestamp, nonce, requestId].join('\n');
  const signature = createHmac('sha256', appSecret).update(signText).digest('base64');

  print(`POST ${channel.baseUrl}${path}`);
  print(`${body}\n`);
  print('Signed text');
  for (const line of signText.split('\n')) print(`  ${line || '(empty)'}`);
  print(`Signature\n  ${signature}\n`);

  const response = await fetch(channel.baseUrl + path, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json;charset=UTF-8',
      'X-SVC-App-Id': channel.appId,
      'X-SVC-Timestamp': timestamp,
      'X-SVC-Nonce': nonce,
      'X-SVC-Request-Id': requestId,
      'X-SVC-Signature': signature,
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body,
  }).catch(() => stop(`nothing answers at ${channel.baseUrl}: start the service with npm start`));
  const answer = await response.json();

  print(`Answer, HTTP ${response.status}`);
  print(`${JSON.stringify(answer, shortenToken, 2).replace(/^/gm, '  ')}\n`);
  if (answer.code !== '0') stop(`${endpoint} was refused: ${answer.code} ${answer.message}`);
  return answer.data;
}

function readChannel(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return stop(`${path} cannot be read: it is written by npm start; name it if your DATA_DIR is elsewhere`);
  }
}

function shortenToken(key, value) {
  return key === 'accessToken' ? `${value.slice(0, 8)}...` : value;
}

function stop(reason) {
  process.stderr.write(`first-call: ${reason}\n`);
  process.exit(1);
}
