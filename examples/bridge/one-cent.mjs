// Debits one cent over a bridge and refunds it: the smallest test of a bridge, its settings and an agreement. Moves
// real money if the bridge is connected to a real institution.
//
//   node examples/bridge/one-cent.mjs http://127.0.0.1:8091 data/bridge.key AGREEMENT [cents]
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  BRIDGE_HEADERS,
  CONTENT_TYPE,
  isSignedResponse,
  KEY_BYTES,
  readFields,
  signedHeaders,
} from '@perennial/wire/bridge';

const USAGE = 'usage: node examples/bridge/one-cent.mjs URL KEY_FILE AGREEMENT [cents]';
const HELP = `${USAGE}

Debits one cent (or so many cents) on AGREEMENT over the bridge at URL, asks until the result is known, and gives it back.
It moves real money, if the bridge does. KEY_FILE holds the key shared with the bridge, 32 bytes in base64.

Exit code: 0 when it was debited and given back, 1 when not, 2 when the command is wrong and nothing was sent.`;
const ANSWER_MS = 60_000;
const ASK_EVERY_MS = 5_000;

/** Thrown to end the program: its message is printed. `isSure` is true if certainly nothing was debited. */
class Ended extends Error {
  constructor(message, exitCode, isSure = false) {
    super(message);
    this.exitCode = exitCode;
    this.isSure = isSure;
  }
}

const say = (text) => process.stdout.write(`${text}\n`);

function readArguments([url = '', keyFile = '', agreement = '', cents = '1', ...more]) {
  if (agreement === '' || more.length > 0) throw new Ended(`${USAGE}; --help says more`, 2);
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new Ended(`URL must start with http:// or https://: ${url}`, 2);
  }
  const amountCent = Number(cents);
  if (!/^[1-9]\d*$/.test(cents) || !Number.isSafeInteger(amountCent)) {
    throw new Ended(`cents must be a whole number of at least 1: ${cents}`, 2);
  }
  return { url: url.replace(/(?<!\/)\/+$/, ''), key: readKey(keyFile), agreement, amountCent };
}

function readKey(file) {
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Ended(`the key file ${file} cannot be read: ${error.code}`, 2);
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES) throw new Ended(`${file} must hold ${KEY_BYTES} bytes in base64`, 2);
  return key;
}

async function ask({ url, key }, operation, fields, idempotencyKey) {
  const address = `${url}/${operation}`;
  const { pathname } = new URL(address);
  const body = Buffer.from(JSON.stringify({ appId: 'one_cent', ...fields }));
  const requestId = `${operation}-${randomBytes(6).toString('hex')}`;
  const signed = signedHeaders({ path: pathname, body, now: Date.now(), requestId }, key);
  const headers = { 'content-type': CONTENT_TYPE, ...signed };
  if (idempotencyKey) headers[BRIDGE_HEADERS.idempotencyKey] = idempotencyKey;
  const { status, signature, answer } = await send(address, { headers, body });
  if (status === 401)
    throw new Ended(`/${operation}: HTTP 401, the bridge does not take this key, or its clock is off`, 1, true);
  if (!isSignedResponse(signature, pathname, signed[BRIDGE_HEADERS.nonce], answer, key)) {
    throw new Ended(
      `/${operation}: HTTP ${status} without a signature under this key; is it the bridge that answers?`,
      1,
    );
  }
  const said = readFields(answer);
  if (status === 200 && said !== undefined) return said;
  throw new Ended(`/${operation}: HTTP ${status} ${JSON.stringify(said?.error ?? 'no JSON object')}`, 1);
}

async function send(address, { headers, body }) {
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const response = await fetch(address, { method: 'POST', headers, body, signal, redirect: 'manual' });
    const signature = response.headers.get(BRIDGE_HEADERS.signature) ?? undefined;
    return { status: response.status, signature, answer: Buffer.from(await response.arrayBuffer()) };
  } catch (error) {
    const why = error.cause?.code ?? error.name;
    throw new Ended(`nothing answers at ${address}: ${why}`, 1, ['ECONNREFUSED', 'ENOTFOUND'].includes(why));
  }
}

/** Sends the request with `said()`. Then queries with `question()` until the status is no longer PENDING. */
async function untilKnown(said, question) {
  for (let answer = await said(); ; answer = await question()) {
    say(JSON.stringify(answer));
    if (answer.status !== 'PENDING') return answer;
    await delay(ASK_EVERY_MS);
  }
}

async function debitAndGiveBack({ agreement, amountCent, ...bridge }) {
  const number = `${Date.now()}${randomBytes(3).toString('hex')}`;
  const [attemptNo, refundNo] = [`T${number}`, `R${number}`];
  const cents = amountCent === 1 ? '1 cent' : `${amountCent} cents`;
  say(`debits ${cents} on ${agreement} as ${attemptNo}, asks until the result is known, refunds it as ${refundNo}`);
  const debit = {
    attemptNo,
    ...{ amountCent, orderNo: number, cycleNo: 1, externalOrderNo: number, startedAt: Date.now() },
  };
  const unknown = ({ message }) => {
    throw new Ended(`${message}. What became of ${attemptNo} is not known: look at the institution`, 1);
  };
  const paid = await untilKnown(
    () =>
      ask(bridge, 'debit', { ...debit, institutionNo: agreement }, attemptNo).catch((error) => {
        if (error.isSure) throw error;
        unknown(error);
      }),
    () => ask(bridge, 'debit-query', debit).catch(unknown),
  );
  if (paid.status !== 'SUCCESS') throw new Ended('not debited', 1);
  const kept = `DEBITED, AND NOT GIVEN BACK: look at the institution for ${attemptNo} and ${refundNo}`;
  const back = await untilKnown(
    () => ask(bridge, 'refund', { refundNo, attemptNo, amountCent: paid.amountCent }, refundNo),
    () => ask(bridge, 'refund-query', { refundNo }),
  ).catch((error) => {
    throw new Ended(`${error.message}. ${kept}`, 1);
  });
  if (back.status !== 'SUCCESS') throw new Ended(kept, 1);
  say('debited and given back');
}

try {
  const given = process.argv.slice(2);
  if (given.includes('--help') || given.includes('-h')) say(HELP);
  else await debitAndGiveBack(readArguments(given));
} catch (error) {
  if (!(error instanceof Ended)) throw error;
  process.stderr.write(`one-cent: ${error.message}\n`);
  process.exitCode = error.exitCode;
}
