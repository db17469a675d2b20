import type { Queryable } from '../db/database.js';

/** As many as are asked for at a time. */
const AT_A_TIME = 100;

/**
 * Agreement numbers for orders that bring their agreement along, some at a time: one less to wait for with each order. What
 * is left of them at a restart is never used.
 */
export interface AgreementNumbers {
  next(): Promise<number>;
  /** One of them turned out to be taken, so that the others may be too. */
  forget(): void;
}

export function agreementNumbers(db: Queryable): AgreementNumbers {
  let left: number[] = [];
  let filling: Promise<void> | undefined;
  const fill = async () => {
    const rows = await db.query<{ id: number }>(
      `select nextval('agreement_numbers') as id from generate_series(1, ${AT_A_TIME})`,
    );
    left = rows.map(({ id }) => id);
  };
  return {
    async next() {
      for (;;) {
        const id = left.shift();
        if (id !== undefined) return id;
        filling ??= fill().finally(() => {
          filling = undefined;
        });
        await filling;
      }
    },
    forget() {
      left = [];
    },
  };
}
