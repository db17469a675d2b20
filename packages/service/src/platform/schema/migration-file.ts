import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { PACKAGE_FOLDER } from '../package-folder.js';

export type Migration = Readonly<ReturnType<typeof parseMigration>>;

/** The first migration: the schema of 1.0.0. */
export const BASELINE = 100;

export const MIGRATIONS_FOLDER = new URL('migrations/', PACKAGE_FOLDER);

/** Returns the migrations in the order of their versions. */
export async function readMigrations(folder: URL = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{6}_.+\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => parseMigration(name, await readFile(new URL(name, folder), 'utf8'))));
}

/** Returns the names of all tables and sequences that migrations create, even if later migrations drop them. */
export async function readCreatedNames(): Promise<string[]> {
  const texts = (await readMigrations()).flatMap(({ sql, afterwards }) => [sql, ...afterwards]);
  return texts.flatMap((text) => [...text.matchAll(/^create (?:table|sequence) (\w+)/gm)].map(([, name = '']) => name));
}

/**
 * Parses a migration. A contract migration begins with `-- Contract`. Statements below `-- Afterwards:` run outside the
 * transaction: concurrent index builds, and updates of many rows in steps.
 */
export function parseMigration(name: string, text: string) {
  const [sql = '', afterwards = ''] = text.split(/^-- Afterwards:$/m);
  return {
    version: Number(name.slice(0, 6)),
    name,
    sha256: createHash('sha256').update(text).digest('hex'),
    /**
     * True if the migration removes parts that nodes of the previous release need. It is applied when no such node runs
     * any more.
     */
    isContract: /^-- Contract\b/.test(text),
    /** Runs in one transaction. */
    sql,
    /** Statements that are committed one by one. After an interruption they are all repeated from the first. */
    afterwards: splitStatements(afterwards),
  };
}

/** Splits at semicolons outside of comments, strings and dollar-quoted bodies. Removes comments. */
export function splitStatements(text: string): string[] {
  const statements = [''];
  for (const [token] of text.matchAll(/--[^\n]*|'[^']*'|\$(\w*)\$.*?\$\1\$|[^-'$;]+|./gsy)) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--')) statements.push((statements.pop() ?? '') + token);
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
