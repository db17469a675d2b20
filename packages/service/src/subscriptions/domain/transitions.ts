/** A permitted change of status. */
export interface Transition<Status, Trigger> {
  readonly from: Status | 'none';
  readonly on: Trigger;
  readonly to: Status;
}

/** Creates a table of the permitted transitions. A transition without a row is forbidden. */
export function createTransitions<
  Status extends string,
  Trigger extends string,
  Row extends Transition<Status, Trigger>,
>(rows: readonly Row[]) {
  /** Returns the row of a transition, or undefined if the table has none. */
  const find = (from: Status | 'none', on: Trigger) => rows.find((row) => row.from === from && row.on === on);
  return {
    find,
    /**
     * Returns the row of a transition. Throws if there is none. For code in which a missing row would be a programming
     * error.
     */
    require(from: Status | 'none', on: Trigger): Row {
      const row = find(from, on);
      if (!row) throw new Error(`no transition from ${from} on ${on}`);
      return row;
    },
  };
}
