import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatTime, sha256Hex, signRequest } from '@perennial/wire';
import {
  BRIDGE_HEADERS,
  CONTENT_TYPE,
  checkSignature,
  type Fields,
  MAX_MESSAGE_BYTES,
  numberOf,
  positiveOf,
  readFields,
  signedHeaders,
  signResponse,
} from '@perennial/wire/bridge';

const UNCHECKED = [
  'signature-covers',
  'signature-headers',
  'signature-missing',
  'signature-whole',
  'signature-wrong',
  'timestamp-future',
  'timestamp-old',
];
const ONCE = [
  'debit-at-once',
  'debit-hang-up',
  'debit-other-agreement',
  'debit-other-amount',
  'debit-repeated',
  'replay',
];

/**
 * The faults that a test can switch on in the bridge, each with exactly the rules that it breaks. Faults of one group
 * are tested in one run, because none of them hides another. Without a fault the bridge follows every rule.
 */
export const RUNS = [
  {
    'takes what has no signature': ['signature-missing'],
    'compares the beginning of a signature': ['signature-whole'],
    'takes old timestamps': ['timestamp-old'],
    'takes future timestamps': ['timestamp-future'],
    'checks no header': ['signature-headers'],
    'signs refusals': ['refusal-unsigned'],
    'signs no 409': ['answer-signed'],
    'answers plain text': ['content-type'],
    'refuses unknown fields': ['request-unknown-fields'],
    'fails at what is no JSON': ['request-not-json'],
    'debits half a body': ['request-cut-off'],
    'takes any size': ['request-too-large'],
    'takes any amount': ['request-amounts'],
    'takes any currency': ['currency-other'],
    'takes numbers of 32 characters': ['request-longest'],
    'ignores Idempotency-Key': ['idempotency-key'],
    'needs an appId': ['without-app-id'],
    'gives seconds': ['answer-times'],
    'sends a notice once': ['notice-again'],
  },
  {
    'answers another amount as it stands': ['debit-other-agreement', 'debit-other-amount'],
    'debits twice at once': ['debit-at-once'],
    'debits replays': ['replay'],
    'declines everything as FINAL': ['cancel-debit', 'decline-agreement-invalid', 'decline-retryable'],
    'debits for any channel': ['foreign-agreement'],
    'declines on timeouts': ['result-stays'],
    'refunds too much': ['refund-too-much'],
    'adds up no refunds': ['refund-at-once', 'refund-in-sum'],
    'refunds what it has not debited': ['refund-unknown-debit'],
    'does not know what it has refunded': ['refund-query-known'],
    'cancels once': ['cancel'],
    'sends one code': ['bind-code'],
    'repeats a line': ['statement-once'],
  },
  {
    'takes 16 KB': ['request-largest'],
    'reads the first piece of a body': ['request-in-pieces'],
    'has a clock that is two minutes ahead': ['timestamp-future', 'timestamp-within'],
    'debits another amount, and says 409': ['debit-other-agreement', 'debit-other-amount'],
    'refunds at once without a lock': ['refund-at-once'],
    'declines when the caller has left': ['debit-hang-up'],
    'answers 404 to questions about unknown refunds': ['refund-query-unknown'],
    'debits canceled agreements': ['cancel-debit'],
    'ends a binding at a wrong code': ['bind-confirm', 'bind-wrong-code'],
    'leaves refunds out of the statement': ['statement-complete'],
    'cuts the day elsewhere': ['statement-day'],
    'says something else in the notice': ['notice-sent'],
  },
  {
    'changes its mind': ['result-stays'],
    'answers 404 to questions about unknown numbers': ['debit-query-unknown'],
    'refunds twice': ['refund-other-amount', 'refund-repeated'],
    'binds anew each time': ['bind-repeated'],
  },
  {
    'forgets what is pending': ['debit-query-known', 'pending'],
    'binds nothing': ['bind-confirm', 'bind-wrong-code'],
    'has lines without a time': ['statement-lines'],
  },
  { 'sends the same notice bytes again': ['notice-again'] },
  { 'signs no notice': ['notice-sent', 'notice-signed'] },
  { 'sends no notice': ['notice-sent'], 'has pages without an end': ['statement-pages'] },
  { 'knows no number again': ONCE },
  { 'does not know what it has debited': ['debit-query-known', 'pending'] },
  { 'forgets at a restart': ['restart'] },
  { 'checks no signature': UNCHECKED },
  { 'signs no answer': ['answer-signed'] },
  { 'signs without the nonce': ['answer-signed'] },
  { 'refuses every key': ['signature-taken'] },
  { 'answers compressed': ['answer-json'] },
  { 'leaves the attemptNo out': ['answer-number'] },
  { 'has words of its own': ['answer-status'] },
  { 'has no institutionRef': ['answer-fields'] },
];
export type Sin = (typeof RUNS)[number] extends infer Run ? (Run extends Run ? keyof Run : never) : never;

export const AGREEMENTS = {
  good: 'GOOD',
  retryable: 'POOR',
  final: 'BLOCKED',
  ended: 'ENDED',
  pending: 'SLOW',
  foreign: 'FOREIGN',
  cancelable: 'CANCELABLE',
} as const;

const DECLINES: Readonly<Record<string, string>> = {
  [AGREEMENTS.retryable]: 'RETRYABLE',
  [AGREEMENTS.final]: 'FINAL',
  [AGREEMENTS.ended]: 'AGREEMENT_INVALID',
};

const PAGE_LINES = 7;

interface Debit {
  readonly attemptNo: string;
  readonly institutionNo: string;
  readonly amountCent: number;
  answer: Fields;
}
interface Line {
  readonly kind: 'DEBIT' | 'REFUND';
  readonly number: string;
  readonly amountCent: number;
  readonly bookedAt: number;
  readonly institutionRef: string;
}

/** Thrown to make the bridge answer with this HTTP status. */
class Refused extends Error {
  constructor(readonly status: number) {
    super(`HTTP ${status}`);
  }
}

/** A typical minimal bridge, with configurable faults. */
export class BadBridge {
  readonly sins = new Set<Sin>();
  /** Not a fault: every debit and refund is PENDING first, and a query returns the result. */
  answersLater = false;
  /** Not a fault: the number of queries that find a debit still pending. */
  pendingFor = 1;
  /** Not a fault: the bridge refuses all refunds. */
  refundsNothing = false;
  /** Not a fault: the bridge is of a version without currencies. */
  isOlder = false;
  /** Not a fault. */
  currency = 'CNY';
  /** The reason in declines, refused refunds and answers to wrong signatures. */
  reason = 'no';
  url = '';
  noticeUrl = '';
  readonly #key: Buffer;
  readonly #server = http.createServer((request, response) => void this.#serve(request, response));
  #debits = new Map<string, Debit>();
  #refunds = new Map<string, { readonly attemptNo: string; readonly amountCent: number; readonly answer: Fields }>();
  #bindings = new Map<string, { codes: number; isEnded: boolean; institutionNo?: string }>();
  #canceled = new Set<string>();
  readonly #lines: Line[] = [];
  readonly #nonces = new Set<string>();
  readonly #asked = new Map<string, number>();

  constructor(key: Buffer) {
    this.#key = key;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/bank`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  restart(): void {
    if (!this.#does('forgets at a restart')) return;
    this.#debits = new Map();
    this.#refunds = new Map();
  }

  #does(sin: Sin): boolean {
    return this.sins.has(sin);
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = await this.#readBody(request);
    const isTooLarge = body.length > (this.#does('takes 16 KB') ? 16_384 : MAX_MESSAGE_BYTES);
    if (isTooLarge && !this.#does('takes any size')) {
      response.writeHead(413).end();
      return;
    }
    if (!this.#isTrusted(path, request.headers, body)) {
      this.#answer(request, response, 401, { error: `signature, ${this.reason}` }, this.#does('signs refusals'));
      return;
    }
    try {
      this.#answer(request, response, 200, await this.#carryOut(path, request, body), true);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const isSigned = error.status !== 409 || !this.#does('signs no 409');
      this.#answer(request, response, error.status, { error: 'refused' }, isSigned);
    }
  }

  async #readBody(request: http.IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        if (chunks.length === 0 || !this.#does('reads the first piece of a body')) chunks.push(chunk);
      }
    } catch {
      const half = /"attemptNo":"([^"]+)"/.exec(Buffer.concat(chunks).toString());
      if (half?.[1] !== undefined && this.#does('debits half a body')) this.#book('DEBIT', half[1], 1);
    }
    return Buffer.concat(chunks);
  }

  #isTrusted(path: string, headers: http.IncomingHttpHeaders, body: Buffer): boolean {
    if (this.#does('checks no signature')) return true;
    if (this.#does('refuses every key')) return false;
    const given = String(headers[BRIDGE_HEADERS.signature] ?? '');
    if (given === '' && this.#does('takes what has no signature')) return !(BRIDGE_HEADERS.signature in headers);
    const sent = Number(headers[BRIDGE_HEADERS.timestamp]);
    const isBehind = sent < Date.now();
    let now = this.#does('has a clock that is two minutes ahead') ? Date.now() + 120_000 : Date.now();
    if (this.#does(isBehind ? 'takes old timestamps' : 'takes future timestamps')) now = sent;
    if (checkSignature({ path, query: '', headers, body, now }, this.#key).trusted) return true;
    const text = (name: string) => String(headers[name] ?? '');
    const { timestamp, nonce, requestId } = BRIDGE_HEADERS;
    const signed = { timestamp: text(timestamp), nonce: text(nonce), requestId: text(requestId) };
    const right = signRequest({ path, query: '', bodySha256: sha256Hex(body), ...signed }, this.#key);
    // Accepts the request without validating the signed headers.
    const isNear = !(Math.abs(Date.now() - sent) > 300_000);
    if (this.#does('checks no header') && isNear && given === right) return true;
    return this.#does('compares the beginning of a signature') && given !== '' && right.startsWith(given);
  }

  #answer(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    status: number,
    fields: Fields,
    isSigned: boolean,
  ): void {
    const bytes = Buffer.from(JSON.stringify(fields));
    const nonce = this.#does('signs without the nonce') ? '' : String(request.headers[BRIDGE_HEADERS.nonce] ?? '');
    const signature = signResponse(request.url ?? '', nonce, bytes, this.#key);
    response.writeHead(status, {
      'content-type': this.#does('answers plain text') ? 'text/plain' : CONTENT_TYPE,
      ...(isSigned && !this.#does('signs no answer') ? { [BRIDGE_HEADERS.signature]: signature } : {}),
      ...(this.#does('answers compressed') ? { 'content-encoding': 'gzip' } : {}),
    });
    response.end(bytes);
  }

  async #carryOut(path: string, request: http.IncomingMessage, body: Buffer): Promise<Fields> {
    const fields = readFields(body);
    if (fields === undefined) throw new Refused(this.#does('fails at what is no JSON') ? 500 : 400);
    if (this.#does('refuses unknown fields') && 'fieldOfTomorrow' in fields) throw new Refused(400);
    if (path.endsWith('/handshake') && !this.isOlder) return { currency: this.currency };
    if ((fields['currency'] ?? 'CNY') !== this.currency && !this.isOlder && !this.#does('takes any currency'))
      throw new Refused(409);
    if (this.#does('needs an appId') && fields['appId'] === undefined && !path.endsWith('/statement')) {
      throw new Refused(400);
    }
    const operations: Readonly<Record<string, () => Fields | Promise<Fields>>> = {
      debit: async () => this.#shape(await this.#debit(fields, request)),
      'debit-query': () => this.#shape(this.#debitQuery(fields)),
      refund: () => this.#refund(fields, request),
      'refund-query': () => this.#refundQuery(fields),
      'agreement-cancel': () => this.#cancel(fields),
      'bind-code': () => this.#bindCode(fields),
      'bind-confirm': () => this.#bindConfirm(fields),
      statement: () => this.#statement(fields),
    };
    const run = operations[path.replace('/bank/', '')];
    if (run === undefined) throw new Refused(404);
    return run();
  }

  /** Applies the faults that affect every answer about a debit. */
  #shape(answer: Fields): Fields {
    const { attemptNo, institutionRef, ...rest } = answer;
    return {
      ...rest,
      ...(this.#does('leaves the attemptNo out') ? {} : { attemptNo }),
      ...(this.#does('has no institutionRef') || institutionRef === undefined ? {} : { institutionRef }),
      ...(this.#does('has words of its own') && rest['status'] === 'SUCCESS' ? { status: 'PAID' } : {}),
      ...(this.#does('gives seconds') && 'paidAt' in rest ? { paidAt: Math.floor(Number(rest['paidAt']) / 1000) } : {}),
    };
  }

  #requireNumber(fields: Fields, name: string, { headers }: http.IncomingMessage): string {
    const number = numberOf(fields[name]);
    const isTooLong = this.#does('takes numbers of 32 characters') && (number?.length ?? 0) > 32;
    if (number === undefined || isTooLong) throw new Refused(400);
    if (headers[BRIDGE_HEADERS.idempotencyKey] !== number && !this.#does('ignores Idempotency-Key')) {
      throw new Refused(400);
    }
    return number;
  }

  async #debit(fields: Fields, request: http.IncomingMessage): Promise<Fields> {
    const attemptNo = this.#requireNumber(fields, 'attemptNo', request);
    const institutionNo = String(fields['institutionNo']);
    const isAmount = positiveOf(fields['amountCent']) !== undefined || this.#does('takes any amount');
    if (!isAmount) throw new Refused(400);
    const amountCent = positiveOf(fields['amountCent']) ?? 1;
    const nonce = String(request.headers[BRIDGE_HEADERS.nonce]);
    const isReplay = this.#nonces.has(nonce);
    this.#nonces.add(nonce);
    const before = this.#debits.get(attemptNo);
    // Waits after reading the debits, so that concurrent requests do not see each other's debit.
    if (this.#does('debits twice at once')) await someTurns(() => request.socket.destroyed);
    if (before !== undefined && !this.#does('knows no number again')) {
      if (isReplay && this.#does('debits replays')) this.#book('DEBIT', attemptNo, amountCent);
      if (before.amountCent === amountCent && before.institutionNo === institutionNo) return before.answer;
      if (this.#does('answers another amount as it stands')) return before.answer;
      if (this.#does('debits another amount, and says 409')) this.#book('DEBIT', attemptNo, amountCent);
      throw new Refused(409);
    }
    const debit: Debit = { attemptNo, institutionNo, amountCent, answer: { attemptNo, status: 'PENDING' } };
    this.#debits.set(attemptNo, debit);
    debit.answer =
      this.#does('declines when the caller has left') && (await hasLeft(request))
        ? { attemptNo, status: 'DECLINED', decline: 'FINAL', reason: 'timeout' }
        : this.#decide(attemptNo, institutionNo, amountCent, String(fields['appId']));
    return this.answersLater ? { attemptNo, status: 'PENDING' } : debit.answer;
  }

  #decide(attemptNo: string, institutionNo: string, amountCent: number, appId: string): Fields {
    const declined = (kind: string): Fields => {
      const decline = this.#does('declines everything as FINAL') ? 'FINAL' : kind;
      return { attemptNo, status: 'DECLINED', decline, reason: this.reason };
    };
    const isForeign = institutionNo === AGREEMENTS.foreign && appId !== 'owner';
    if (isForeign && !this.#does('debits for any channel')) return declined('FINAL');
    if (this.#canceled.has(institutionNo) && !this.#does('debits canceled agreements')) {
      return declined('AGREEMENT_INVALID');
    }
    const kind = DECLINES[institutionNo];
    if (kind !== undefined) return declined(kind);
    if (institutionNo !== AGREEMENTS.pending) return this.#succeed(attemptNo, amountCent);
    if (!this.#does('declines on timeouts')) return { attemptNo, status: 'PENDING' };
    this.#book('DEBIT', attemptNo, amountCent);
    return declined('FINAL');
  }

  #succeed(attemptNo: string, amountCent: number): Fields {
    const { bookedAt: paidAt, institutionRef } = this.#book('DEBIT', attemptNo, amountCent);
    return { attemptNo, status: 'SUCCESS', amountCent, paidAt, institutionRef };
  }

  #book(kind: Line['kind'], number: string, amountCent: number): Line {
    const line = { kind, number, amountCent, bookedAt: Date.now(), institutionRef: `I${this.#lines.length + 1}` };
    this.#lines.push(line);
    return line;
  }

  #debitQuery(fields: Fields): Fields {
    const attemptNo = String(fields['attemptNo']);
    const debit = this.#debits.get(attemptNo);
    const isHidden = debit?.answer['status'] === 'PENDING' && this.#does('forgets what is pending');
    if (debit === undefined || isHidden || this.#does('does not know what it has debited')) {
      if (this.#does('answers 404 to questions about unknown numbers')) throw new Refused(404);
      return { attemptNo, status: 'NOT_FOUND' };
    }
    const times = (this.#asked.get(attemptNo) ?? 0) + 1;
    this.#asked.set(attemptNo, times);
    if (debit.answer['status'] === 'PENDING' && times > this.pendingFor) {
      debit.answer = this.#succeed(attemptNo, debit.amountCent);
      void this.#notify(debit);
    }
    if (this.#does('changes its mind') && debit.institutionNo === AGREEMENTS.good) {
      return { attemptNo, status: 'DECLINED', decline: 'FINAL', reason: 'after all' };
    }
    return debit.answer;
  }

  async #notify({ attemptNo, answer }: Debit): Promise<void> {
    if (this.#does('sends no notice') || this.noticeUrl === '') return;
    const { pathname: path } = new URL(this.noticeUrl);
    const noticeNo = `N${attemptNo}`;
    const other = this.#does('says something else in the notice') ? { amountCent: 77 } : {};
    const body = Buffer.from(JSON.stringify({ kind: 'DEBIT', noticeNo, ...answer, ...other }));
    const key = this.#does('signs no notice') ? Buffer.alloc(32, 1) : this.#key;
    const sign = () => signedHeaders({ path, body, now: Date.now(), requestId: noticeNo }, key);
    const first = sign();
    for (let times = 0; times < 3; times += 1) {
      const headers = times === 0 || this.#does('sends the same notice bytes again') ? first : sign();
      const sent = await fetch(this.noticeUrl, { method: 'POST', body, headers }).catch(() => undefined);
      if (sent?.status === 200 || this.#does('sends a notice once')) return;
    }
  }

  async #refund(fields: Fields, request: http.IncomingMessage): Promise<Fields> {
    const refundNo = this.#requireNumber(fields, 'refundNo', request);
    const attemptNo = String(fields['attemptNo']);
    const amountCent = Number(fields['amountCent']);
    const before = this.#refunds.get(refundNo);
    if (before !== undefined && !this.#does('refunds twice')) {
      if (before.amountCent === amountCent && before.attemptNo === attemptNo) return before.answer;
      throw new Refused(409);
    }
    const isGood = before !== undefined || this.#isRefundable(attemptNo, amountCent);
    if (this.#does('refunds at once without a lock')) await someTurns();
    const booked = isGood ? this.#book('REFUND', refundNo, amountCent) : undefined;
    const answer = booked
      ? { refundNo, status: 'SUCCESS', amountCent, refundedAt: booked.bookedAt }
      : { refundNo, status: 'REFUSED', reason: this.reason };
    this.#refunds.set(refundNo, { attemptNo, amountCent, answer });
    return this.answersLater ? { refundNo, status: 'PENDING' } : answer;
  }

  #isRefundable(attemptNo: string, amountCent: number): boolean {
    const debit = this.#debits.get(attemptNo);
    if (this.refundsNothing) return false;
    if (debit === undefined) return this.#does('refunds what it has not debited');
    if (debit.answer['status'] !== 'SUCCESS') return false;
    const refunded = [...this.#refunds.values()]
      .filter((one) => one.attemptNo === attemptNo && one.answer['status'] === 'SUCCESS')
      .reduce((sum, one) => sum + one.amountCent, 0);
    if (amountCent > debit.amountCent) return this.#does('refunds too much');
    return refunded + amountCent <= debit.amountCent || this.#does('adds up no refunds');
  }

  #refundQuery(fields: Fields): Fields {
    const refundNo = String(fields['refundNo']);
    const refund = this.#refunds.get(refundNo);
    if (refund !== undefined && !this.#does('does not know what it has refunded')) return refund.answer;
    if (this.#does('answers 404 to questions about unknown refunds')) throw new Refused(404);
    return { refundNo, status: 'NOT_FOUND' };
  }

  #cancel(fields: Fields): Fields {
    const institutionNo = String(fields['institutionNo']);
    const isAgain = this.#canceled.has(institutionNo);
    this.#canceled.add(institutionNo);
    return isAgain && this.#does('cancels once')
      ? { status: 'REFUSED', reason: 'no such agreement' }
      : { status: 'CANCELED' };
  }

  #bindCode(fields: Fields): Fields {
    const bindOrderNo = String(fields['bindOrderNo']);
    const binding = this.#bindings.get(bindOrderNo) ?? { codes: 0, isEnded: false };
    this.#bindings.set(bindOrderNo, binding);
    binding.codes += 1;
    if (binding.codes > 1 && this.#does('sends one code')) return { status: 'NOT_SENT', reason: 'a code was sent' };
    return { status: 'SENT', reference: null };
  }

  #bindConfirm(fields: Fields): Fields {
    const binding = this.#bindings.get(String(fields['bindOrderNo']));
    if (binding === undefined || binding.isEnded || this.#does('binds nothing'))
      return { status: 'REFUSED', reason: 'no' };
    if (fields['smsCode'] !== '123456') {
      binding.isEnded = this.#does('ends a binding at a wrong code');
      return { status: binding.isEnded ? 'REFUSED' : 'WRONG_CODE', reason: 'wrong' };
    }
    if (this.#does('binds anew each time')) delete binding.institutionNo;
    binding.institutionNo ??= `BOUND${Math.random()}`;
    return { status: 'BOUND', institutionNo: binding.institutionNo };
  }

  #statement(fields: Fields): Fields {
    const day = String(fields['day']);
    const from = Number(fields['cursor'] ?? 0);
    const all = this.#linesOf(day);
    const page = all.slice(from, from + PAGE_LINES);
    const lines = page.map((line) => ({
      ...line,
      status: 'SUCCESS',
      ...(this.#does('has lines without a time') ? { bookedAt: null } : {}),
    }));
    const next = from + PAGE_LINES;
    const last = this.#does('has pages without an end') ? String(from) : null;
    return { day, lines, nextCursor: next < all.length ? String(next) : last };
  }

  #linesOf(day: string): Line[] {
    const booked = this.#lines.filter(({ bookedAt }) => formatTime(bookedAt).slice(0, 10) === day);
    const kept = booked.filter(({ kind }) => kind === 'DEBIT' || !this.#does('leaves refunds out of the statement'));
    const [first] = kept;
    if (first === undefined) return kept;
    if (this.#does('repeats a line')) return [...kept, first];
    if (this.#does('cuts the day elsewhere')) {
      return [...kept, { ...first, number: 'YESTERDAY', bookedAt: first.bookedAt - 86_400_000 }];
    }
    return kept;
  }
}

/**
 * Waits some turns of the event loop, so that concurrent requests run and the loss of a caller is noticed. That is
 * enough, because the checker and the bridge run in this process.
 */
async function someTurns(isEnough: () => boolean = () => false): Promise<void> {
  for (let turns = 0; turns < 50 && !isEnough(); turns += 1) await nextTurn();
}

async function hasLeft({ socket }: http.IncomingMessage): Promise<boolean> {
  await someTurns(() => socket.destroyed);
  return socket.destroyed;
}
