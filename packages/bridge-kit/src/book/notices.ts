import type { BookDatabase } from './database.js';

export interface NoticeRow {
  readonly noticeNo: string;
  readonly message: object;
  readonly tries: number;
  /** How many 400 and 413 responses the service has given to this notice. */
  readonly refusals: number;
}

/** In a notice on a debit, `about` is this prefix followed by the debit's number. */
export const ABOUT_DEBIT = 'debit ';

/** The notices to the service: owed, accepted and given up. */
export class Notices {
  readonly #database: BookDatabase;
  readonly #table: string;

  constructor(database: BookDatabase) {
    this.#database = database;
    this.#table = `${database.schema}.notices`;
  }

  /** Leases up to `most` due notices to this process for `inHandMs`. */
  async takeDue(now: number, inHandMs: number, most: number): Promise<readonly NoticeRow[]> {
    const rows = await this.#database.query<{ notice_no: string; message: object; tries: number; refusals: number }>(
      `update ${this.#table} set in_hand_until = $2::bigint, tries = tries + 1
       where notice_no in (
         select notice_no from ${this.#table}
         where ended is null and send_at <= $1::bigint and in_hand_until <= $1::bigint
         order by send_at limit $3 for update skip locked)
       returning notice_no, message, tries, refusals`,
      [now, now + inHandMs, most],
    );
    return rows.map(({ notice_no, ...row }) => ({ ...row, noticeNo: notice_no }));
  }

  async sendLater(noticeNo: string, sendAt: number, isRefused: boolean): Promise<void> {
    await this.#database.query(
      `update ${this.#table} set send_at = $2::bigint, in_hand_until = 0, refusals = refusals + $3::integer
       where notice_no = $1 and ended is null`,
      [noticeNo, sendAt, isRefused ? 1 : 0],
    );
  }

  async end(noticeNo: string, how: 'TAKEN' | 'GIVEN_UP', now: number): Promise<void> {
    await this.#database.query(
      `update ${this.#table} set ended = $2, ended_at = $3::bigint where notice_no = $1 and ended is null`,
      [noticeNo, how, now],
    );
  }

  async countOwed(): Promise<{ readonly owed: number; readonly since: number | undefined }> {
    const [row] = await this.#database.query<{ owed: number; since: number | null }>(
      `select count(*) as owed, min(owed_since) as since from ${this.#table} where ended is null`,
    );
    return { owed: row?.owed ?? 0, since: row?.since ?? undefined };
  }
}
