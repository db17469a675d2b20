// Debits one cent over a bridge and gives it back: the smallest proof that a bridge, its settings and an agreement are right.
// It moves real money, if the bridge does.
//
//   node examples/bridge/one-cent.mjs http://127.0.0.1:8091 data/bridge.key AGREEMENT [cents]
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BRIDGE_HEADERS, CONTENT_TYPE, isSignedResponse, signedHeaders } from '@perennial/wire/bridge';

const [url = '', keyFile = '', institutionNo = '', cents = '1'] = process.argv.slice(2);
if (institutionNo === '') {
  process.stderr.write('usage: node examples/bridge/one-cent.mjs URL KEY_FILE AGREEMENT [cents]\n');
  process.exit(2);
}
const key = Buffer.from(readFileSync(keyFile, 'utf8').trim(), 'base64');
const amountCent = Number(cents);
const number = `${Date.now()}${randomBytes(3).toString('hex')}`;
const say = (text) => process.stdout.write(`${text}\n`);

async function ask(operation, fields, idempotencyKey) {
  const { pathname, origin } = new URL(`${url}/${operation}`);
  const body = Buffer.from(JSON.stringify({ appId: 'one_cent', ...fields }));
  const signed = signedHeaders({ path: pathname, body, now: Date.now(), requestId: `${operation}-${number}` }, key);
  const headers = { 'content-type': CONTENT_TYPE, ...signed };
  if (idempotencyKey) headers[BRIDGE_HEADERS.idempotencyKey] = idempotencyKey;
  const response = await fetch(origin + pathname, { method: 'POST', headers, body });
  const answer = Buffer.from(await response.arrayBuffer());
  const signature = response.headers.get(BRIDGE_HEADERS.signature) ?? undefined;
  const isSigned = isSignedResponse(signature, pathname, signed[BRIDGE_HEADERS.nonce], answer, key);
  if (!isSigned || response.status !== 200) {
    throw new Error(`${operation}: HTTP ${response.status} ${isSigned ? answer : 'without a signature that holds'}`);
  }
  return JSON.parse(answer.toString());
}

/** A result, or nothing: then the number is asked for until there is one. */
async function untilKnown(said, question) {
  for (let answer = await said(); ; answer = await question()) {
    say(JSON.stringify(answer));
    if (answer.status !== 'PENDING') return answer;
    await delay(5_000);
  }
}

const debit = {
  attemptNo: `T${number}`,
  ...{ amountCent, orderNo: number, cycleNo: 1, externalOrderNo: number, startedAt: Date.now() },
};
const paid = await untilKnown(
  () => ask('debit', { ...debit, institutionNo }, debit.attemptNo),
  () => ask('debit-query', debit),
);
if (paid.status !== 'SUCCESS') process.exit(1);
const refundNo = `R${number}`;
const back = await untilKnown(
  () => ask('refund', { refundNo, attemptNo: debit.attemptNo, amountCent: paid.amountCent }, refundNo),
  () => ask('refund-query', { refundNo }),
);
say(back.status === 'SUCCESS' ? 'debited and given back' : 'DEBITED, AND NOT GIVEN BACK: look at the institution');
process.exit(back.status === 'SUCCESS' ? 0 : 1);
