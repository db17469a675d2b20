// biome-ignore-all lint/correctness/noUnusedVariables: used by the script that is put behind it
// The signing of each request. Postman, Newman and Bruno include CryptoJS, which has no AES-GCM, so fields are
// encrypted in svc_aes_v1.

const CryptoJS = require('crypto-js');

/** Returns the headers for exactly this query and body. */
function signedHeaders(channel, { path, query, body }) {
  const timestamp = String(Date.now());
  const nonce = randomHex();
  const requestId = randomHex();
  const lines = ['POST', path, query, CryptoJS.SHA256(body).toString(), timestamp, nonce, requestId];
  const mac = CryptoJS.HmacSHA256(lines.join('\n'), CryptoJS.enc.Base64.parse(channel.appSecret));
  return {
    'Content-Type': 'application/json;charset=UTF-8',
    'X-SVC-App-Id': channel.appId,
    'X-SVC-Timestamp': timestamp,
    'X-SVC-Nonce': nonce,
    'X-SVC-Request-Id': requestId,
    'X-SVC-Signature': mac.toString(CryptoJS.enc.Base64),
  };
}

/** Returns a query as sent: clients escape spaces, quotes, `#`, `<`, `>` and everything beyond ASCII. */
function escapeQuery(query) {
  return query.replace(/[^!$-&(-;=?-~]+/g, (part) => encodeURIComponent(part).replace(/'/g, '%27'));
}

/** Identifies the channel and service that a stored token belongs to. */
function tokenOwner({ appId, baseUrl }) {
  return `${appId} at ${baseUrl}`;
}

/** Encrypts the fields whose names end in Encrypted, which are plain text in the collection. */
function encryptFields(channel, value, name = '') {
  if (Array.isArray(value)) return value.map((one) => encryptFields(channel, one));
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, one]) => [key, encryptFields(channel, one, key)]);
    return Object.fromEntries(entries);
  }
  const isPlain = typeof value === 'string' && !value.startsWith('svc_aes_');
  return isPlain && name.endsWith('Encrypted') ? encrypt(channel, value) : value;
}

function encrypt(channel, text) {
  const iv = CryptoJS.lib.WordArray.random(16);
  const { ciphertext } = CryptoJS.AES.encrypt(text, CryptoJS.enc.Base64.parse(channel.aesKey), { iv });
  return `svc_aes_v1:${iv.clone().concat(ciphertext).toString(CryptoJS.enc.Base64)}`;
}

function randomHex() {
  return CryptoJS.lib.WordArray.random(16).toString();
}

/** Returns the user of the requests, by the names of the variables. */
function newUser() {
  return { run: randomHex().slice(0, 12), mobile: String(Math.random()).slice(2, 12).padEnd(10, '0') };
}

/** Returns the values that later requests need, by the names of the variables. */
function keptOf(endpoint, sent, data) {
  if (endpoint === 'agreements/bind-sms') return { bindOrderNo: data.bindOrderNo };
  if (endpoint === 'events/list') return data.events.length > 0 ? { eventId: data.events[0].eventId } : {};
  if (endpoint !== 'orders/create') return {};
  if (sent.sharedAgreement) return { sharedOrderNo: data.orderNo };
  return { orderNo: data.orderNo, paymentOrderNo: data.paymentRecords[0].paymentOrderNo };
}
