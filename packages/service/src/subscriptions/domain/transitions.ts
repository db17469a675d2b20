/** A permitted change of status. */
export interface Transition<Status, Trigger> {
  readonly from: Status | 'none';
  readonly on: Trigger;
  readonly to: Status;
}

/** Creates a table of transitions. Transitions without a row are forbidden. */
export function createTransitions<
  Status extends string,
  Trigger extends string,
  Row extends Transition<Status, Trigger>,
>(rows: readonly Row[]) {
  /** Returns undefined if the table has no such row. */
  const find = (from: Status | 'none', on: Trigger) => rows.find((row) => row.from === from && row.on === on);
  return {
    find,
    /** Throws if the table has no such row. For SQL statements, which are written for one row of the table. */
    require(from: Status | 'none', on: Trigger): Row {
      const row = find(from, on);
      if (!row) throw new Error(`no transition from ${from} on ${on}`);
      return row;
    },
  };
}
