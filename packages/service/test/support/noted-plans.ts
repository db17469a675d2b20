import type { Database, Queryable } from '../../src/platform/db/database.js';
import { wrapQuery } from '../../src/platform/db/database.js';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

interface Asked {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly byIndex?: boolean | undefined;
}

const HAS_PLAN = /^\s*(select|with|insert|update|delete)\b/i;

/** A database that notes the plan of each statement. */
export interface NotedDatabase {
  readonly database: Database;
  /**
   * Runs `work`. Returns how it reads the tables: each index by name, without repetitions, and `all of` for a full scan
   * of a table or index.
   */
  plansOf(work: () => Promise<unknown>): Promise<string[]>;
}

export function notedDatabase(real: Database, tables: RegExp): NotedDatabase {
  const asked = new Map<string, Asked>();
  const noted = (to: Queryable) =>
    wrapQuery(to, (run, one) => {
      if (HAS_PLAN.test(one.text)) asked.set(one.text, one);
      return run();
    });
  const database: Database = {
    ...real,
    get connections() {
      return real.connections;
    },
    query: noted(real),
    transaction: (work, options) => real.transaction((tx) => work({ ...tx, query: noted(tx) }), options),
  };
  return {
    database,
    async plansOf(work) {
      asked.clear();
      await work();
      const found = new Set<string>();
      for (const one of asked.values()) {
        for (const name of await scansOf(real, one)) if (tables.test(name)) found.add(name);
      }
      return [...found].sort();
    },
  };
}

/**
 * Returns the scans in a statement's plan. A named statement gets a generic plan. Any other statement gets a plan for
 * its values.
 */
function scansOf(real: Database, { name, text, values, byIndex }: Asked): Promise<string[]> {
  return real.transaction(async (tx) => {
    await tx.query(`set local enable_seqscan = ${byIndex === true ? 'off' : 'on'}`);
    const [row] =
      name === undefined
        ? await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (format json) ${text}`, values)
        : await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`explain (generic_plan, format json) ${text}`);
    return row === undefined ? [] : scansIn(row['QUERY PLAN'][0].Plan);
  });
}

function scansIn(node: PlanNode): string[] {
  const index = node['Index Name'];
  const own =
    index !== undefined
      ? [`${node['Index Cond'] === undefined ? 'all of ' : ''}${withoutWeek(index)}`]
      : node['Node Type'] === 'Seq Scan'
        ? [`all of ${withoutWeek(node['Relation Name'] ?? '')}`]
        : [];
  return [...own, ...(node.Plans ?? []).flatMap(scansIn)];
}

/** Removes a partition's date, slot or `default` from its name, so that one name represents all partitions. */
const withoutWeek = (name: string): string => name.replace(/_(\d{8}|default)(?=_|$)/, '').replace(/^(nonces)_\d/, '$1');
