import {
  BRIDGE_HEADERS,
  type Fields,
  isSignedResponse,
  MAX_MESSAGE_BYTES,
  MAX_STATEMENT_BYTES,
  type Operation,
  readFields,
} from '@perennial/wire/bridge';
import type { Clock } from '../../platform/clock.js';
import type { PeerAccess } from '../../platform/http-client/peer-access.js';
import { BridgeGone, type Findings, NotTried } from '../findings.js';
import type { Deadlines } from '../given.js';
import type { RuleName } from '../rules.js';
import { findFlaw, show } from './answers.js';
import { compose, type Request } from './compose.js';
import { type Arrival, type HttpAnswer, type Manner, type Message, sendMessage } from './transport.js';

export interface CallerOptions {
  readonly origin: string;
  readonly basePath: string;
  readonly key: Uint8Array;
  readonly currency: string;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly findings: Findings;
  readonly peers?: PeerAccess | undefined;
}

/** An answer that the service can use. */
export interface Said {
  /** The answer's `status`. Empty for a statement or a handshake. */
  readonly word: string;
  readonly fields: Fields;
}

export interface Asking extends Request {
  readonly manner?: Manner;
  /** The rule that permits this request. The rule is broken if the bridge refuses the request. */
  readonly blame?: RuleName;
}

const MANY_SILENCES = 3;

/** Calls the bridge as the service does, and checks answers against the rules that apply to all answers. */
export class Caller {
  readonly #options: CallerOptions;
  #silences = 0;

  constructor(options: CallerOptions) {
    this.#options = options;
  }

  compose(request: Request): Message {
    const { basePath, key, currency, clock } = this.#options;
    return compose(request, { basePath, key, currency, now: clock.now() });
  }

  /** Sends a message. Checks only that the bridge is still reachable. */
  async send(operation: Operation, message: Message, manner: Manner = 'whole'): Promise<Arrival> {
    const { origin, deadlines, peers } = this.#options;
    const deadlineMs = operation === 'debit' ? deadlines.debit : deadlines.other;
    const maxBytes = operation === 'statement' ? MAX_STATEMENT_BYTES : MAX_MESSAGE_BYTES;
    const arrival = await sendMessage(message, { origin, manner, deadlineMs, maxBytes, peers });
    const isSilent = arrival.kind === 'unreachable' || arrival.kind === 'late';
    this.#silences = isSilent ? this.#silences + 1 : 0;
    if (this.#silences >= MANY_SILENCES) {
      this.#judgeArrival(operation, arrival);
      throw new BridgeGone('the bridge no longer answers');
    }
    return arrival;
  }

  /** Returns true if there is an answer with a status below 500. Checks no rule. */
  async isThere(request: Request): Promise<boolean> {
    const { origin, deadlines, peers } = this.#options;
    const delivery = { origin, manner: 'whole', maxBytes: MAX_MESSAGE_BYTES, peers } as const;
    const arrival = await sendMessage(this.compose(request), { ...delivery, deadlineMs: deadlines.other });
    return arrival.kind === 'answer' && arrival.status < 500;
  }

  /** Sends a request that must be answered. Records the broken rule and throws NotTried if the answer is unusable. */
  async ask(asking: Asking): Promise<Said> {
    const message = this.compose(asking);
    const arrival = await this.send(asking.operation, message, asking.manner);
    return this.read(asking, message, arrival);
  }

  read({ operation, body, blame }: Asking, message: Message, arrival: Arrival): Said {
    const answer = this.#requireAnswer(operation, arrival);
    const isRefused = answer.status >= 400 && answer.status < 500;
    const rule = isRefused && blame !== undefined ? blame : answer.status === 401 ? 'signature-taken' : 'status-200';
    this.#require(rule, answer.status === 200, `/${operation} was answered with ${this.#describeRefusal(answer)}`);
    // Checks the content type before the signature. A proxy that answers in the bridge's place signs nothing, and a
    // wrong content type points to the proxy more clearly.
    this.#judgeType(operation, answer);
    this.#options.findings.judge('signature-taken', true, '');
    this.#judgeSignature(operation, message, answer);
    const fields = this.#requireFields(operation, answer);
    const flaw = findFlaw(operation, fields, Buffer.isBuffer(body) ? {} : body);
    if (flaw !== undefined) this.#require(flaw.rule, false, flaw.seen);
    if (operation !== 'statement' && operation !== 'handshake') {
      for (const one of ['answer-number', 'answer-status', 'answer-fields'] as const) this.#require(one, true, '');
    }
    this.#judgeTimes(operation, fields);
    return { word: typeof fields['status'] === 'string' ? fields['status'] : '', fields };
  }

  /** Sends a request that the bridge must refuse with this HTTP status. */
  async expectRefusal(asking: Asking, status: 400 | 401 | 409, rule: RuleName, what: string): Promise<void> {
    const { operation } = asking;
    const message = this.compose(asking);
    const answer = this.#requireAnswer(operation, await this.send(operation, message, asking.manner));
    // A server error does not show whether the bridge would have refused the request with 409.
    if (answer.status >= 500 && status === 409) {
      this.#require('status-200', false, `/${operation} was answered with HTTP ${answer.status}`);
    }
    const { findings } = this.#options;
    const isRefused = findings.judge(rule, answer.status === status, `${what}: ${describeAnswer(answer)}`);
    if (!isRefused) return;
    if (status !== 401) this.#judgeSignature(operation, message, answer);
    else findings.judge('refusal-unsigned', !(BRIDGE_HEADERS.signature in answer.headers), `${what}: a signed 401`);
  }

  /** Describes a refusal with the bridge's own error text, and with the clock difference if that may be the cause. */
  #describeRefusal({ status, headers, body }: HttpAnswer): string {
    const error = readFields(body)?.['error'];
    const text = typeof error === 'string' ? ` ${show(error)}` : isHtml({ headers, body }) ? `; ${HTML}` : '';
    const minutes = Math.round((Date.parse(headers.date ?? '') - this.#options.clock.now()) / 60_000);
    const isOff = status === 401 && Math.abs(minutes) >= 2;
    return `HTTP ${status}${text}${isOff ? `; its clock is ${minutes} minutes off this one` : ''}`;
  }

  #requireAnswer(operation: Operation, arrival: Arrival): HttpAnswer {
    this.#judgeArrival(operation, arrival);
    if (arrival.kind !== 'answer') throw new NotTried(`/${operation} had no answer`);
    return arrival;
  }

  #judgeArrival(operation: Operation, arrival: Arrival): void {
    const { findings } = this.#options;
    if (arrival.kind === 'left') return;
    const seen = arrival.kind === 'answer' ? '' : `/${operation}: ${arrival.why}`;
    findings.judge('answered', arrival.kind !== 'broken' && arrival.kind !== 'unreachable', seen);
    findings.judge('deadline', arrival.kind !== 'late', seen);
    findings.judge('answer-size', arrival.kind !== 'too-large', seen);
  }

  #judgeSignature(operation: Operation, { path, headers }: Message, answer: HttpAnswer): void {
    const given = answer.headers[BRIDGE_HEADERS.signature];
    const nonce = headers[BRIDGE_HEADERS.nonce] ?? '';
    const isSigned = isSignedResponse(given, path, nonce, answer.body, this.#options.key);
    const seen = given === undefined ? 'without X-Bridge-Signature' : 'with a signature that does not match';
    this.#require('answer-signed', isSigned, `/${operation} was answered with HTTP ${answer.status} ${seen}`);
  }

  #judgeType(operation: Operation, answer: HttpAnswer): void {
    const type = answer.headers['content-type'];
    const isJson = /^application\/json\s*(;|$)/i.test(type ?? '');
    const isPage = isHtml(answer);
    const seen = `/${operation} was answered as ${show(type)}${isPage ? `; ${HTML}` : ''}`;
    this.#options.findings.judge('content-type', isJson, seen);
    if (isPage) this.#require('answer-json', false, `/${operation} was answered with no JSON object; ${HTML}`);
  }

  #requireFields(operation: Operation, { headers, body }: HttpAnswer): Fields {
    const encoding = headers['content-encoding'];
    const fields = encoding === undefined || encoding === 'identity' ? readFields(body) : undefined;
    const seen = encoding === undefined ? 'a body that is not a JSON object' : `content-encoding ${show(encoding)}`;
    this.#require('answer-json', fields !== undefined, `/${operation} was answered with ${seen}`);
    return fields ?? {};
  }

  #judgeTimes(operation: Operation, fields: Fields): void {
    for (const name of ['paidAt', 'refundedAt']) {
      const at = fields[name];
      if (typeof at === 'number') this.judgeTime(at, `/${operation} answered ${name} ${at}`);
    }
  }

  /** Tolerates one day: everything happens while the command runs, and clocks of bridges and banks are off by less. */
  judgeTime(at: number, seen: string): void {
    const { findings, clock } = this.#options;
    findings.judge('answer-times', Math.abs(at - clock.now()) < DAY_MS, seen);
  }

  #require(rule: RuleName, isKept: boolean, seen: string): void {
    if (!this.#options.findings.judge(rule, isKept, seen)) throw new NotTried(`${seen} (${rule})`);
  }
}

const DAY_MS = 86_400_000;
const HTML = 'this is HTML, perhaps a proxy’s or a sign-in page';

export function isHtml({ headers, body }: Pick<HttpAnswer, 'headers' | 'body'>): boolean {
  const start = body.subarray(0, 100).toString('latin1');
  return /^text\/html\b/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype )?html\b/i.test(start);
}

function describeAnswer({ status, body }: HttpAnswer): string {
  const word = status === 200 ? readFields(body)?.['status'] : undefined;
  return word === undefined ? `HTTP ${status}` : `HTTP ${status} ${show(word)}`;
}
