import { readFileSync } from 'node:fs';
import { trimSlashes } from '@perennial/wire';
import { PlainError } from './plain-error.js';

/** The cells of an installation, and which numbers belong to each. Reasons: docs/decisions/0037-cells.md. */

export const MAX_CELL = 88;

/** Numbers of cell 0 are below this. Numbers of the other cells have one digit more, so that their length is fixed. */
const BASE = 1e14;
const WIDTH = 1e12;
const CHANNELS = 1e7;

export interface NumberRange {
  readonly sequence: string;
  readonly min: number;
  readonly max: number;
  readonly start: number;
}

/** Returns the ranges of a cell's sequences. Numbers of periods, attempts, refunds and claims begin with the order's. */
export function rangesOf(cell: number): NumberRange[] {
  const offset = cell === 0 ? 0 : BASE + cell * WIDTH;
  const end = cell === 0 ? BASE : offset + WIDTH;
  const ofNumbers = (sequence: string, start: number, block = 1) => ({
    sequence,
    min: Math.max(offset, 1),
    max: end - block,
    start: offset + start,
  });
  return [
    ofNumbers('order_numbers', 100_000_001_000, 1000),
    ofNumbers('agreement_numbers', 200_000_000_001),
    ofNumbers('event_numbers', 1),
    {
      sequence: 'channels_channel_id_seq',
      min: Math.max(cell * CHANNELS, 1),
      max: (cell + 1) * CHANNELS - 1,
      start: cell * CHANNELS + 100_001,
    },
  ];
}

/** Returns the cell of an order's, agreement's or event's number. Returns undefined if no cell has it. */
export function cellOfNumber(number: number): number | undefined {
  if (number < BASE) return 0;
  const cell = Math.floor((number - BASE) / WIDTH);
  return cell >= 1 && cell <= MAX_CELL ? cell : undefined;
}

/** A cell as CELLS_FILE describes it. */
export interface Cell {
  readonly cell: number;
  /** URL of the database, for commands. It may contain a password. */
  readonly database?: string;
  /** Base URL of the API of the cell's own nodes, for notices of institutions. */
  readonly url?: string;
  /** URL of the cell's console. */
  readonly console?: string;
}

/** Returns whether a number belongs to another cell of the installation. Never true without CELLS_FILE. */
export const isOfOtherCell = (cells: readonly Cell[], own: number, number: number): boolean => {
  const cell = cellOfNumber(number);
  return cell !== own && cells.some((one) => one.cell === cell);
};

const PROTOCOLS = { database: /^postgres(?:ql)?:$/, url: /^https?:$/, console: /^https?:$/ } as const;

/** Reads CELLS_FILE. Messages never quote a value, because a URL may contain a password. */
export function readCellsFile(file: string): Cell[] {
  const refuse = (why: string): never => {
    throw new PlainError(`CELLS_FILE ${file} ${why}`);
  };
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : (error as Error).message;
    return refuse(`cannot be read: ${why}`);
  }
  if (!Array.isArray(read) || read.length === 0) return refuse('must be a JSON list of cells');
  const cells = read.map((one: unknown): Cell => {
    if (typeof one !== 'object' || one === null) return refuse('must be a list of objects');
    const { cell, ...urls } = one as Record<string, unknown>;
    if (!Number.isInteger(cell) || Number(cell) < 0 || Number(cell) > MAX_CELL) {
      return refuse(`must have a "cell" from 0 to ${MAX_CELL} in each object`);
    }
    for (const [name, value] of Object.entries(urls)) {
      const protocols = PROTOCOLS[name as keyof typeof PROTOCOLS];
      if (!protocols) refuse(`has the unknown field "${name}" in cell ${cell}`);
      if (typeof value !== 'string' || !URL.canParse(value) || !protocols.test(new URL(value).protocol)) {
        refuse(`must have a URL as "${name}" of cell ${cell}`);
      }
    }
    const trimmed = Object.entries(urls).map(([name, value]) => [name, trimSlashes(String(value))]);
    return { cell: Number(cell), ...Object.fromEntries(trimmed) };
  });
  const twice = cells.find(({ cell }, at) => cells.findIndex((one) => one.cell === cell) !== at);
  if (twice) refuse(`has cell ${twice.cell} twice`);
  return cells.toSorted((a, b) => a.cell - b.cell);
}
