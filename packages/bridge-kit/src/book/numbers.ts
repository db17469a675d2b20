import type { BookDatabase } from './database.js';
import type { Queryable, Row } from './queryable.js';

export type State = 'BEGUN' | 'OPEN' | 'SETTLED';

/** The book's record of a debit or refund number. */
export interface Entry<Terms, Result> {
  readonly number: string;
  readonly terms: Terms;
  readonly state: State;
  readonly institutionRef: string | undefined;
  readonly result: Result | undefined;
  readonly begunAt: number;
}

/** A notice that is stored together with a result. */
export interface OwedNotice {
  readonly noticeNo: string;
  readonly about: string;
  readonly message: object;
}

export interface NumbersOptions<Terms> {
  readonly database: BookDatabase;
  readonly table: 'debits' | 'refunds';
  /** The id of this process among all processes of the bridge. */
  readonly holder: string;
  /** The duration of a lease on a number: longer than any call. */
  readonly inHandMs: number;
  /** Maps each column of the terms to its property. */
  readonly columns: Readonly<Record<string, keyof Terms & string>>;
}

const LONG_OPEN_MS = 86_400_000;

/** Statistics on numbers without a result. */
export interface OpenNumbers {
  readonly open: number;
  /** How many numbers have been open for more than a day. */
  readonly longOpen: number;
  readonly since: number | undefined;
  readonly oldest: string | undefined;
}

/** The debits or the refunds of the book: one row per number, leased to one process at a time. */
export class Numbers<Terms extends object, Result extends object> {
  readonly #options: NumbersOptions<Terms>;
  readonly #table: string;
  readonly #notices: string;

  constructor(options: NumbersOptions<Terms>) {
    this.#options = options;
    this.#table = `${options.database.schema}.${options.table}`;
    this.#notices = `${options.database.schema}.notices`;
  }

  /** Inserts a number, leased to this process. Returns undefined if the book already has it. */
  async insert(
    number: string,
    terms: Terms,
    now: number,
    on: Queryable = this.#options.database,
  ): Promise<Entry<Terms, Result> | undefined> {
    const { columns, holder, inHandMs } = this.#options;
    const names = Object.keys(columns);
    const values = Object.values(columns).map((name) => terms[name] ?? null);
    const places = names.map((_, index) => `$${index + 6}`);
    const [row] = await on.query(
      `insert into ${this.#table} (number, state, begun_at, holder, in_hand_until, ask_at, ${names.join(', ')})
       values ($1, 'BEGUN', $2::bigint, $3, $4::bigint, $5::bigint, ${places.join(', ')})
       on conflict (number) do nothing
       returning *`,
      [number, now, holder, now + inHandMs, now + inHandMs, ...values],
    );
    return row && this.#toEntry(row);
  }

  async find(number: string): Promise<Entry<Terms, Result> | undefined> {
    const [row] = await this.#options.database.query(`select * from ${this.#table} where number = $1`, [number]);
    return row && this.#toEntry(row);
  }

  /** Finds debit or refund numbers by the institution's references. Omits a reference that several numbers share. */
  async findByRefs(institutionRefs: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#options.database.query<{ ref: string; number: string }>(
      `select institution_ref as ref, min(number) as number from ${this.#table}
       where institution_ref = any($1::text[]) group by institution_ref having count(*) = 1`,
      [institutionRefs],
    );
    return new Map(rows.map(({ ref, number }) => [ref, number]));
  }

  /** Leases a number. Returns undefined if it is missing, settled or already leased. */
  async takeInHand(number: string, now: number): Promise<Entry<Terms, Result> | undefined> {
    const { database, holder, inHandMs } = this.#options;
    const [row] = await database.query(
      `update ${this.#table} set holder = $2, in_hand_until = $3::bigint
       where number = $1 and state <> 'SETTLED' and in_hand_until <= $4::bigint
       returning *`,
      [number, holder, now + inHandMs, now],
    );
    return row && this.#toEntry(row);
  }

  /** Stores a term that is missing because the book was lost. */
  async complete(number: string, name: keyof Terms & string, value: unknown): Promise<void> {
    const column = Object.entries(this.#options.columns).find(([, one]) => one === name)?.[0];
    if (column === undefined) return;
    await this.#options.database.query(
      `update ${this.#table} set ${column} = $2 where number = $1 and ${column} is null`,
      [number, value],
    );
  }

  /** Leases up to `most` numbers that are due for a query. Each query doubles the next delay, up to a limit. */
  async takeDue(now: number, most: number): Promise<readonly Entry<Terms, Result>[]> {
    const { database, holder, inHandMs } = this.#options;
    const rows = await database.query(
      `update ${this.#table} set holder = $2, in_hand_until = $3::bigint, asked = asked + 1,
         ask_at = $1::bigint + least(15000 * power(2, least(asked, 10)), 900000)::bigint
       where number in (
         select number from ${this.#table}
         where state <> 'SETTLED' and ask_at <= $1::bigint and in_hand_until <= $1::bigint
         order by ask_at limit $4 for update skip locked)
       returning *`,
      [now, holder, now + inHandMs, most],
    );
    return rows.map((row) => this.#toEntry(row));
  }

  /** Releases this process's lease without a result. `askAt` can bring the next query forward but not delay it. */
  async leaveOpen(
    number: string,
    state: 'OPEN' | 'AS_IT_WAS',
    institutionRef: string | undefined,
    askAt?: number,
  ): Promise<void> {
    const { database, holder } = this.#options;
    await database.query(
      `update ${this.#table} set
         state = case when $2 = 'OPEN' then 'OPEN' else state end,
         institution_ref = coalesce($3, institution_ref),
         ask_at = least(ask_at, $5::bigint),
         in_hand_until = case when holder = $4 then 0 else in_hand_until end
       where number = $1 and state <> 'SETTLED'`,
      [number, state, institutionRef ?? null, holder, askAt ?? null],
    );
  }

  /** Stores the institution's reference, unless the number is settled or has one. Does not change the lease. */
  async noteRef(number: string, institutionRef: string): Promise<void> {
    await this.#options.database.query(
      `update ${this.#table} set institution_ref = $2 where number = $1 and state <> 'SETTLED' and institution_ref is null`,
      [number, institutionRef],
    );
  }

  /** Stores the result and, if given, the notice about it. Returns false if a result was already stored. */
  async settle(
    number: string,
    result: Result,
    institutionRef: string | undefined,
    owed: OwedNotice | undefined,
    now: number,
    on: Queryable = this.#options.database,
  ): Promise<boolean> {
    const settled = await on.query(
      `with settled as (
         update ${this.#table} set state = 'SETTLED', result = $2, institution_ref = coalesce($3, institution_ref),
           in_hand_until = 0
         where number = $1 and state <> 'SETTLED'
         returning number
       ), owed as (
         insert into ${this.#notices} (notice_no, about, message, owed_since, send_at)
         select $4, $5, $6::jsonb, $7::bigint, $7::bigint from settled where $4::text is not null
         on conflict (about) do nothing
       )
       select number from settled`,
      [
        number,
        JSON.stringify(result),
        institutionRef ?? null,
        owed?.noticeNo ?? null,
        owed?.about ?? null,
        owed === undefined ? null : JSON.stringify(owed.message),
        now,
      ],
    );
    return settled.length > 0;
  }

  async countOpen(now: number): Promise<OpenNumbers> {
    type Found = { open: number; long_open: number; since: number | null; oldest: string | null };
    const [row] = await this.#options.database.query<Found>(
      `select count(*) as open, count(*) filter (where begun_at <= $1::bigint) as long_open,
         min(begun_at) as since, (array_agg(number order by begun_at))[1] as oldest
       from ${this.#table} where state <> 'SETTLED'`,
      [now - LONG_OPEN_MS],
    );
    return {
      open: row?.open ?? 0,
      longOpen: row?.long_open ?? 0,
      since: row?.since ?? undefined,
      oldest: row?.oldest ?? undefined,
    };
  }

  #toEntry(row: Row): Entry<Terms, Result> {
    const terms = Object.fromEntries(
      Object.entries(this.#options.columns).map(([column, name]) => [name, row[column] ?? undefined]),
    );
    return {
      number: String(row['number']),
      terms: terms as Terms,
      state: row['state'] as State,
      institutionRef: (row['institution_ref'] as string | null) ?? undefined,
      result: (row['result'] as Result | null) ?? undefined,
      begunAt: Number(row['begun_at']),
    };
  }
}
