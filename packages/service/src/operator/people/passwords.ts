import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { OperatorError, refusal } from '../operator.js';
import { isCommonPassword } from './common-passwords.js';
import type { PersonRow } from './people-sql.js';

/** The cost of scrypt: 32 MB of memory and some tenths of a second per attempt. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const MEMORY = { maxmem: 64 * 2 ** 20 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

const MIN_LENGTH = 12;
const MAX_LENGTH = 1024;

export function requirePassword(password: string, name: string): string {
  const length = [...password].length;
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    throw refusal('password-length')`a password must have ${MIN_LENGTH} to ${MAX_LENGTH} characters, not ${length}`;
  }
  if (password.toLowerCase().includes(name.toLowerCase()) && name.length > 3) {
    throw refusal('password-holds-name')`a password must not contain the user name`;
  }
  if (new Set(password).size < 5)
    throw refusal('password-too-even')`a password must have at least five different characters`;
  if (isCommonPassword(password))
    throw refusal('password-common')`this password is among those that are guessed first; choose unrelated words`;
  return password;
}

/** The number of the latest passwords, including the current one, that cannot be chosen again. */
const KEPT_PASSWORDS = 5;

/** Throws if the operator has the password, or had it recently. */
export async function requireNewPassword(
  password: string,
  { name, passwordHash, formerPasswords }: Pick<PersonRow, 'name' | 'passwordHash' | 'formerPasswords'>,
): Promise<void> {
  const latest = [passwordHash, ...formerPasswords].filter((hash) => hash !== null).slice(0, KEPT_PASSWORDS);
  for (const hash of latest) {
    if (await isPassword(password, hash, name))
      throw refusal(
        'password-used',
      )`you have used this password before; choose one that is not among your last ${KEPT_PASSWORDS}`;
  }
}

/** Returns the stored form: method, cost, salt and hash. */
export async function hashPassword(password: string, by: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, HASH_BYTES, COST, by);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/** A hash that no password has, for unknown names. Checking it takes as long as checking a real hash. */
const NOBODY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`;

/**
 * Returns false if nothing is stored, but takes the same time, so that the time does not reveal which names exist. `by`
 * is as in `requirePlace`.
 */
export async function isPassword(password: string, stored: string | null, by: string | undefined): Promise<boolean> {
  const [, N, r, p, salt = '', hash = ''] = (stored ?? NOBODY).split('$');
  const expected = Buffer.from(hash, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const given = await derive(password, Buffer.from(salt, 'base64url'), expected.length, cost, by);
  return timingSafeEqual(given, expected) && stored !== null;
}

/** Hashes are computed one at a time, because more would take CPU time from the channels' requests. */
const AT_A_TIME = 1;
const PLACES_OF_STRANGERS = 50;
const PLACES_OF_OPERATOR = 5;
let running = 0;

interface Waiting {
  readonly by: string | undefined;
  readonly start: () => void;
}
/** Operators and strangers take turns, so a flood of one of them delays the other by one hash each. */
const [operators, strangers]: [Waiting[], Waiting[]] = [[], []];

export class TooManySignIns extends OperatorError {}

/**
 * Throws if all places in the queue are taken. `by` is the operator's name, if the client has a session, a setup link or
 * a known device of the operator. All other clients share the places of strangers.
 */
export function requirePlace(by: string | undefined): void {
  const isFree =
    by === undefined
      ? strangers.length < PLACES_OF_STRANGERS
      : operators.filter((one) => one.by === by).length < PLACES_OF_OPERATOR;
  if (isFree) return;
  throw refusal('too-many-sign-ins', TooManySignIns)`too many sign-ins are in progress; try again`;
}

async function derive(
  password: string,
  salt: Buffer,
  length: number,
  cost: ScryptOptions,
  by: string | undefined,
): Promise<Buffer> {
  if (running >= AT_A_TIME) {
    requirePlace(by);
    const queue = by === undefined ? strangers : operators;
    await new Promise<void>((start) => queue.push({ by, start }));
  } else running += 1;
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password.normalize('NFC'), salt, length, { ...cost, ...MEMORY }, (error, key) =>
        error ? reject(error) : resolve(key),
      );
    });
  } finally {
    // Hands the slot to the next waiting call, so that `running` stays the same.
    const [first, second] = by === undefined ? [operators, strangers] : [strangers, operators];
    const next = first.shift() ?? second.shift();
    if (next) next.start();
    else running -= 1;
  }
}
