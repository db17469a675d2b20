import { sha256Hex } from '@perennial/wire';
import type { DebitResult, RefundResult } from '../institution.js';
import type { BookDatabase } from './database.js';
import { Notices } from './notices.js';
import { type Entry, Numbers, type OwedNotice } from './numbers.js';
import { deleteOldRows } from './old-rows.js';

/** The terms of a debit. A term may be undefined if the book was lost. `appId` is also undefined if it was not sent. */
export interface DebitTerms {
  readonly appId: string | undefined;
  readonly institutionNo: string | undefined;
  readonly amountCent: number | undefined;
  readonly orderNo: string | undefined;
  readonly cycleNo: number | undefined;
  readonly externalOrderNo: string | undefined;
  readonly startedAt: number | undefined;
}

export interface RefundTerms {
  readonly attemptNo: string;
  readonly amountCent: number;
  readonly debitRef: string | undefined;
}

export type DebitEntry = Entry<DebitTerms, DebitResult>;
export type RefundEntry = Entry<RefundTerms, RefundResult>;

export interface BookOptions {
  readonly database: BookDatabase;
  readonly holder: string;
  readonly inHandMs: number;
}

/** The bridge's durable records. */
export class Book {
  readonly debits: Numbers<DebitTerms, DebitResult>;
  readonly refunds: Numbers<RefundTerms, RefundResult>;
  readonly notices: Notices;
  readonly #database: BookDatabase;
  readonly #schema: string;

  constructor(options: BookOptions) {
    const { database } = options;
    this.#database = database;
    this.#schema = database.schema;
    this.notices = new Notices(database);
    this.debits = new Numbers({
      ...options,
      table: 'debits',
      columns: {
        app_id: 'appId',
        institution_no: 'institutionNo',
        amount_cent: 'amountCent',
        order_no: 'orderNo',
        cycle_no: 'cycleNo',
        external_order_no: 'externalOrderNo',
        started_at: 'startedAt',
      },
    });
    this.refunds = new Numbers({
      ...options,
      table: 'refunds',
      columns: { attempt_no: 'attemptNo', amount_cent: 'amountCent', debit_ref: 'debitRef' },
    });
  }

  /**
   * Inserts a new refund, leased to this process. If the amount exceeds what is left of the debit, stores the refund as
   * refused. Returns undefined if the book already has the refund number.
   */
  insertRefund(
    refundNo: string,
    terms: RefundTerms,
    debitedCent: number,
    now: number,
  ): Promise<RefundEntry | undefined> {
    return this.#database.transaction(async (tx) => {
      const entry = await this.refunds.insert(refundNo, terms, now, tx);
      if (entry === undefined) return undefined;
      // Locks the debit's row, so that concurrent refunds of the same debit are added up one after the other.
      await tx.query(`select from ${this.#schema}.debits where number = $1 for update`, [terms.attemptNo]);
      const [row] = await tx.query<{ cent: number }>(
        `select coalesce(sum(amount_cent), 0)::bigint as cent from ${this.#schema}.refunds
         where attempt_no = $1 and (state <> 'SETTLED' or result->>'status' = 'SUCCESS')`,
        [terms.attemptNo],
      );
      if ((row?.cent ?? 0) <= debitedCent) return entry;
      const reason =
        debitedCent === 0 ? 'there is no such debit to refund' : 'the amount exceeds the rest of the debit';
      const result = { status: 'REFUSED', reason } as const;
      await this.refunds.settle(refundNo, result, undefined, undefined, now, tx);
      return { ...entry, state: 'SETTLED', result };
    });
  }

  async isEnded(institutionNo: string): Promise<boolean> {
    const found = await this.#database.query(
      `select from ${this.#schema}.ended_agreements where institution_no_sha256 = $1`,
      [sha256Hex(Buffer.from(institutionNo))],
    );
    return found.length > 0;
  }

  /** Records the end of an agreement and, if given, the notice about it. Returns false if it had already ended. */
  async endAgreement(
    institutionNo: string,
    reason: string,
    owed: OwedNotice | undefined,
    now: number,
  ): Promise<boolean> {
    const ended = await this.#database.query(
      `with ended as (
         insert into ${this.#schema}.ended_agreements values ($1, $2, $3, $4::bigint)
         on conflict do nothing returning institution_no
       ), owed as (
         insert into ${this.#schema}.notices (notice_no, about, message, owed_since, send_at)
         select $5, $6, $7::jsonb, $4::bigint, $4::bigint from ended where $5::text is not null
         on conflict (about) do nothing
       )
       select institution_no from ended`,
      [
        sha256Hex(Buffer.from(institutionNo)),
        institutionNo,
        reason,
        now,
        owed?.noticeNo ?? null,
        owed?.about ?? null,
        owed === undefined ? null : JSON.stringify(owed.message),
      ],
    );
    return ended.length > 0;
  }

  /** Counts a verification code for a binding. Called before the code is sent. */
  async countCode(bindOrderNo: string): Promise<{ readonly codes: number; readonly isBound: boolean }> {
    const [row] = await this.#database.query<{ codes: number; is_bound: boolean }>(
      `insert into ${this.#schema}.bindings as known (bind_order_no, codes) values ($1, 1)
       on conflict (bind_order_no) do update set codes = known.codes + 1
       returning codes, institution_no is not null as is_bound`,
      [bindOrderNo],
    );
    return { codes: row?.codes ?? 1, isBound: row?.is_bound ?? false };
  }

  async findBound(bindOrderNo: string): Promise<string | undefined> {
    const [row] = await this.#database.query<{ institution_no: string | null }>(
      `select institution_no from ${this.#schema}.bindings where bind_order_no = $1`,
      [bindOrderNo],
    );
    return row?.institution_no ?? undefined;
  }

  /** Stores the binding's agreement, unless the binding already has one. Returns the stored agreement. */
  async bind(bindOrderNo: string, institutionNo: string): Promise<string> {
    const [row] = await this.#database.query<{ institution_no: string }>(
      `insert into ${this.#schema}.bindings as known (bind_order_no, codes, institution_no) values ($1, 0, $2)
       on conflict (bind_order_no) do update set institution_no = coalesce(known.institution_no, $2)
       returning institution_no`,
      [bindOrderNo, institutionNo],
    );
    return row?.institution_no ?? institutionNo;
  }

  /** Deletes some expired rows. Returns whether there may be more. */
  deleteOld(before: number, most: number): Promise<boolean> {
    return deleteOldRows(this.#database, before, most);
  }

  /** Writes a row to test the book. Throws if the book cannot be written. */
  async pulse(now: number): Promise<void> {
    await this.#database.query(
      `insert into ${this.#schema}.pulse values (1, $1::bigint) on conflict (one) do update set at = $1::bigint`,
      [now],
    );
  }
}
