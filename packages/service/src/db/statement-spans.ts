import type pg from 'pg';
import { failSpan, findTracing } from '../tracing.js';
import type { Statement } from './queryable.js';

export type RunStatement = <Row>(
  client: pg.ClientBase,
  limitMs: number,
  statement: Statement,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** With a span for each statement where somebody takes them: its name, never its values. */
export function withSpans(run: RunStatement): RunStatement {
  const tracing = findTracing();
  if (!tracing) return run;
  return async (client, limitMs, statement, values) => {
    const started = tracing.statement(typeof statement === 'string' ? firstWord(statement) : statement.name);
    if (!started) return run(client, limitMs, statement, values);
    try {
      const rows = await run<never>(client, limitMs, statement, values);
      started.span.end();
      return rows;
    } catch (error) {
      failSpan(started.span, error);
      throw error;
    }
  };
}

const firstWord = (text: string) => /[a-z]+/i.exec(text)?.[0] ?? 'statement';
