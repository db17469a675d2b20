import { randomUUID } from 'node:crypto';
import { sha256Hex } from '@perennial/wire';
import { MAX_TEXT_LENGTH, reasonOf, textOf } from '@perennial/wire/bridge';
import type { Book } from '../book/book.js';
import type { Institution } from '../institution.js';
import type { readBindCode, readBindConfirm } from '../server/requests.js';
import type { Tools } from './numbered-calls.js';
import { Shared } from './shared.js';

/**
 * The maximum number of verification codes per binding: an attacker can replay a recorded request for five minutes, and
 * each replay sends a text message.
 */
const MAX_CODES = 10;

/** Binds cards, if the institution supports it, and ends agreements. */
export class Agreements {
  readonly #book: Book;
  readonly #institution: Institution;
  readonly #tools: Tools;
  readonly #owed: () => void;
  readonly #confirmed = new Shared<string, object>();

  constructor(book: Book, institution: Institution, tools: Tools, owed: () => void) {
    this.#book = book;
    this.#institution = institution;
    this.#tools = tools;
    this.#owed = owed;
  }

  async cancel(institutionNo: string): Promise<object> {
    const { calls, clock } = this.#tools;
    if (await this.#book.isEnded(institutionNo)) return { status: 'CANCELED' };
    const said = await calls.require('agreement-cancel', (signal) =>
      this.#institution.cancelAgreement(institutionNo, signal),
    );
    if (said.status === 'REFUSED') return { status: 'REFUSED', reason: reasonOf(said.reason) };
    await this.#book.endAgreement(institutionNo, 'canceled by the service', undefined, clock.now());
    return { status: 'CANCELED' };
  }

  /** Records the end of an agreement that the institution's webhook reported. */
  async ended(institutionNo: string, why: string): Promise<boolean> {
    const reason = reasonOf(why);
    const noticeNo = randomUUID();
    const about = `agreement ${sha256Hex(Buffer.from(institutionNo))}`;
    const message = { kind: 'AGREEMENT_CANCELED', noticeNo, institutionNo, reason };
    const isNew = await this.#book.endAgreement(
      institutionNo,
      reason,
      { noticeNo, about, message },
      this.#tools.clock.now(),
    );
    if (isNew) this.#owed();
    return isNew;
  }

  async bindCode(binding: ReturnType<typeof readBindCode>): Promise<object> {
    const { calls } = this.#tools;
    const { bindCode } = this.#institution;
    if (bindCode === undefined) return { status: 'NOT_SENT', reason: 'this institution does not bind cards' };
    const { codes, isBound } = await this.#book.countCode(binding.bindOrderNo);
    if (isBound) return { status: 'NOT_SENT', reason: 'this binding is already complete' };
    if (codes > MAX_CODES) return { status: 'NOT_SENT', reason: 'too many codes were sent for this binding' };
    const said = await calls.require('bind-code', (signal) => bindCode.call(this.#institution, binding, signal));
    return said.status === 'SENT'
      ? { status: 'SENT', reference: said.reference ?? null }
      : { status: 'NOT_SENT', reason: reasonOf(said.reason) };
  }

  bindConfirm(binding: ReturnType<typeof readBindConfirm>): Promise<object> {
    const { bindOrderNo } = binding;
    return this.#confirmed.of(bindOrderNo) ?? this.#confirmed.run(bindOrderNo, () => this.#confirm(binding));
  }

  async #confirm(binding: ReturnType<typeof readBindConfirm>): Promise<object> {
    const { calls } = this.#tools;
    const { bindConfirm } = this.#institution;
    if (bindConfirm === undefined) return { status: 'REFUSED', reason: 'this institution does not bind cards' };
    const bound = await this.#book.findBound(binding.bindOrderNo);
    if (bound !== undefined) return { status: 'BOUND', institutionNo: bound };
    const said = await calls.require('bind-confirm', (signal) => bindConfirm.call(this.#institution, binding, signal));
    if (said.status !== 'BOUND') return { status: said.status, reason: reasonOf(said.reason) };
    if (textOf(said.institutionNo, MAX_TEXT_LENGTH) === undefined)
      throw new Error('the institution returned an agreement without a number');
    return { status: 'BOUND', institutionNo: await this.#book.bind(binding.bindOrderNo, said.institutionNo) };
  }
}
