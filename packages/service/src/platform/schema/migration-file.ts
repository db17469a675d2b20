import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { PACKAGE_FOLDER } from '../package-folder.js';

export type Migration = Readonly<ReturnType<typeof parseMigration>>;

export const MIGRATIONS_FOLDER = new URL('migrations/', PACKAGE_FOLDER);

/** In the order of their numbers. */
export async function readMigrations(folder: URL = MIGRATIONS_FOLDER): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{6}_.+\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => parseMigration(name, await readFile(new URL(name, folder), 'utf8'))));
}

/** The names of tables and sequences that migrations create, including those that a later migration drops. */
export async function readCreatedNames(): Promise<string[]> {
  const texts = (await readMigrations()).flatMap(({ sql, afterwards }) => [sql, ...afterwards]);
  return texts.flatMap((text) => [...text.matchAll(/^create (?:table|sequence) (\w+)/gm)].map(([, name = '']) => name));
}

/**
 * A contract migration begins with `-- Contract`. Statements below a line `-- Afterwards:` are not part of the transaction:
 * indexes that are built concurrently, and updates of many rows in steps.
 */
export function parseMigration(name: string, text: string) {
  const [sql = '', afterwards = ''] = text.split(/^-- Afterwards:$/m);
  return {
    version: Number(name.slice(0, 6)),
    name,
    sha256: createHash('sha256').update(text).digest('hex'),
    /** Removes what nodes of the release before need: applied only when none of them runs any more. */
    isContract: /^-- Contract\b/.test(text),
    /** One transaction. */
    sql,
    /** Each is committed by itself; after an interruption all of them are repeated from the first. */
    afterwards: splitStatements(afterwards),
  };
}

/** By the semicolons that are not in a comment, a string or a body between dollars. Comments are left out. */
export function splitStatements(text: string): string[] {
  const statements = [''];
  for (const [token] of text.matchAll(/--[^\n]*|'[^']*'|\$(\w*)\$.*?\$\1\$|[^-'$;]+|./gs)) {
    if (token === ';') statements.push('');
    else if (!token.startsWith('--')) statements.push((statements.pop() ?? '') + token);
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== '');
}
