import type { FindStep } from '../operator/approvals/carry-out-change.js';
import { type Asking, makeChange } from '../operator/approvals/changes.js';
import type { Operator, OperatorWithGateways } from '../operator/operator.js';
import { createNotFound } from '../operator/rules.js';
import type { Context, Operation, Row, SecondPerson } from './operation.js';

/** The description of a command's option to skip the approval. */
export const WITHOUT_APPROVAL = 'reason to skip the approval by a second admin in production, for the audit log';

/** Runs the step of a row, or requests the approval that it needs. */
export async function runRow(
  row: Row & Partial<Pick<Operation, 'method' | 'path'>>,
  operator: OperatorWithGateways,
  input: never,
  context: Context,
  asking: Asking,
): Promise<unknown> {
  if (!row.secondPerson) return row.run(operator, input, context);
  const prepare = row.secondPerson.prepare as ((by: Operator, given: unknown) => Promise<object>) | undefined;
  const prepared = prepare ? ((await prepare(operator, input)) as never) : input;
  const run = (by: OperatorWithGateways) => row.run(by, prepared, context);
  const choose = row.secondPerson.chosen as SecondPerson<unknown, never>['chosen'];
  const chosen = choose && ((result: unknown, by: Operator) => choose(result, prepared, by));
  return makeChange(operator, { operation: nameOf(row), input: prepared, run, ...(chosen && { chosen }) }, asking);
}

const nameOf = ({ method, path }: Partial<Pick<Operation, 'method' | 'path'>>) => `${method} ${path}`;

/** Finds the steps of approved changes among the rows of the console. */
export const createFindStep =
  (rows: readonly Operation[], context: () => Context): FindStep =>
  (operation) => {
    const row = rows.find((one) => one.secondPerson && nameOf(one) === operation);
    if (!row) throw createNotFound('operation', operation);
    const secrets = row.secondPerson?.secrets as SecondPerson<unknown>['secrets'];
    return {
      showsSecret: secrets !== undefined,
      run: async (operator, input) => {
        const result = await row.run(operator, input as never, context());
        return async (by) => (await secrets?.(result, by)) ?? {};
      },
    };
  };
