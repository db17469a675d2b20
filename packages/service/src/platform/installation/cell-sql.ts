import { rangesOf } from '../cells.js';
import { columns, type Queryable, queryOne, statement } from '../db/database.js';
import { restrictSequence } from '../db/sequences.js';
import { InstallationError } from './installation.js';

const READ_CELL = statement({
  text: 'select cell from installation',
  parameters: [],
  columns: columns({ cell: 'smallint' }),
});

/** Returns the cell of the database. */
export async function readCell(db: Queryable): Promise<number> {
  const row = await queryOne(db, READ_CELL);
  if (!row) throw new InstallationError('the installation row is missing');
  return row.cell;
}

const READ_RANGES = statement({
  text: `select s.seqrelid::regclass::text as sequence, s.seqmin as min, s.seqmax as max
     from pg_sequence s where s.seqrelid = any($1::text[]::regclass[])`,
  parameters: ['text[]'],
  columns: columns({ sequence: 'text', min: 'bigint', max: 'bigint' }),
});

/** Throws unless the database is the asked cell, and gives out only numbers of that cell. */
export async function checkCell(db: Queryable, asked: number | undefined): Promise<void> {
  const cell = await readCell(db);
  if (asked !== undefined && cell !== asked) {
    throw new InstallationError(`this database is cell ${cell}, but CELL is ${asked}`);
  }
  const ranges = rangesOf(cell);
  const found = await db.query(READ_RANGES, [ranges.map(({ sequence }) => sequence)]);
  for (const { sequence, min, max } of ranges) {
    const set = found.find((one) => one.sequence.split('.').at(-1) === sequence);
    if (!set || set.min < min || set.max > max) {
      throw new InstallationError(
        `the sequence ${sequence} may give out numbers of another cell: its range is ${set?.min} to ${set?.max}, but cell ${cell} has ${min} to ${max}`,
      );
    }
  }
}

const SET_CELL = statement({ text: 'update installation set cell = $1', parameters: ['smallint'] });

/** Makes an unused database a cell: stores its number, and restricts its sequences to the cell's numbers. */
export async function setCell(tx: Queryable, cell: number): Promise<void> {
  await tx.query(SET_CELL, [cell]);
  for (const range of rangesOf(cell)) await restrictSequence(tx, range);
}
