/** What can happen to a thing: from which status, on what, to which. */
export interface Transition<Status, Trigger> {
  readonly from: Status | 'none';
  readonly on: Trigger;
  readonly to: Status;
}

/** A table of transitions. What has no row in it is not allowed. */
export function createTransitions<
  Status extends string,
  Trigger extends string,
  Row extends Transition<Status, Trigger>,
>(rows: readonly Row[]) {
  /** Undefined when the table has no such row: the caller decides what that means. */
  const find = (from: Status | 'none', on: Trigger) => rows.find((row) => row.from === from && row.on === on);
  return {
    find,
    /** Throws when the table has no such row. For statements, which are written for a row of the table. */
    require(from: Status | 'none', on: Trigger): Row {
      const row = find(from, on);
      if (!row) throw new Error(`no transition from ${from} on ${on}`);
      return row;
    },
  };
}
