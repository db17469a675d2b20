import { failSpan, findTracing } from '../tracing.js';
import type { UncheckedSql } from './queryable.js';

export type RunStatement<Connection> = <Row>(
  connection: Connection,
  limitMs: number,
  statement: UncheckedSql,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** Adds a span for each statement if spans are collected: with its name, never its values. */
export function traceStatements<Connection>(run: RunStatement<Connection>): RunStatement<Connection> {
  const tracing = findTracing();
  if (!tracing) return run;
  return async (connection, limitMs, statement, values) => {
    const started = tracing.startStatement(nameOf(statement));
    if (!started) return run(connection, limitMs, statement, values);
    try {
      const rows = await run<never>(connection, limitMs, statement, values);
      started.span.end();
      return rows;
    } catch (error) {
      failSpan(started.span, error);
      throw error;
    }
  };
}

const nameOf = (statement: UncheckedSql) =>
  typeof statement === 'string' ? firstWord(statement) : (statement.name ?? firstWord(statement.text));

const firstWord = (text: string) => /[a-z]+/i.exec(text)?.[0] ?? 'statement';
