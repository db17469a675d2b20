import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { recordAudit } from '../../operator/audit/audit.js';
import { isPassword } from '../../operator/people/passwords.js';
import { findPerson, type PersonRow, storeSignIn, useTotpStep } from '../../operator/people/people-sql.js';
import { findTotpStep } from '../../operator/people/totp.js';
import type { Clock } from '../../platform/clock.js';
import type { Transactional } from '../../platform/db/database.js';
import { keyPlaces, openStoredKey } from '../../platform/secrets/stored-keys.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { BY_ADDRESS, BY_NAME, BY_SESSION, countTry, forgetTries, takeBackTry } from './failures-sql.js';
import { findSession, insertSession, type SessionRow, storeProof, touchSession } from './sessions-sql.js';

export interface SignInDeps {
  readonly database: Transactional;
  readonly vault: Vault;
  readonly clock: Clock;
}

/** A client that has not signed in yet. */
export interface Visitor {
  /** An IPv4 address, or the network of the subscriber to whom an IPv6 address belongs. */
  readonly address: string;
  readonly userAgent: string;
}

/** Name, password or code is wrong. The error does not say which. */
export class WrongProof extends Error {}
/** The password was right, and a code is required too. */
export class CodeNeeded extends Error {}
export class Locked extends Error {
  constructor(readonly seconds: number) {
    super(`too many wrong attempts; try again in ${seconds} s`);
  }
}

export interface Proof {
  readonly password?: string | undefined;
  readonly code?: string | undefined;
}

/** Creates a session. Only the hash of its token is stored. */
export async function signIn(
  deps: SignInDeps,
  { name, ...proof }: Proof & { readonly name: string },
  visitor: Visitor,
): Promise<string> {
  return judgeSignIn(deps, name, visitor, async () => {
    const person = await findPerson(deps.database, name);
    // Checks the password against a dummy hash if the name is unknown, so that both cases take the same time.
    const isRight = await isPassword(proof.password ?? '', person?.passwordHash ?? null);
    if (!isRight || person?.status !== 'ACTIVE') throw new WrongProof();
    if (person.totpSecret !== null) {
      if (proof.code === undefined || proof.code === '') throw new CodeNeeded();
      await requireCode(deps, person, proof.code);
    }
    return beginSession(deps, person, visitor, 'password');
  });
}

type OwnSession = Pick<SessionRow, 'name' | 'sessionId'>;

/** Confirms an operator's identity again, by what a sign-in asks for: the password, and a code if there is a secret. */
export async function proveAgain(deps: SignInDeps, session: OwnSession, { password, code }: Proof): Promise<void> {
  await judgeProof(deps, session, async (person) => {
    if (person.passwordHash === null && person.totpSecret === null) throw new WrongProof();
    if (person.passwordHash !== null) await requireOwnPassword(person, password);
    if (person.totpSecret === null) return;
    if (code === undefined || code === '') throw new CodeNeeded();
    await requireCode(deps, person, code);
  });
  await storeProof(deps.database, session.sessionId);
}

/** Checks the password before it is changed. This confirms the identity for nothing else. */
export async function checkPassword(deps: SignInDeps, session: OwnSession, password: string): Promise<void> {
  await judgeProof(deps, session, (person) => requireOwnPassword(person, password));
}

/** Checks a code before the codes are removed. This confirms the identity for nothing else. */
export async function checkCode(deps: SignInDeps, session: OwnSession, code: string): Promise<void> {
  await judgeProof(deps, session, async (person) => {
    if (person.totpSecret === null) throw new WrongProof();
    await requireCode(deps, person, code);
  });
}

/** Counts the attempt by session only, before it is judged, so failed sign-ins of others do not matter here. */
async function judgeProof(
  { database }: SignInDeps,
  { name, sessionId }: OwnSession,
  judge: (person: PersonRow) => Promise<void>,
): Promise<void> {
  const key = `session ${sessionId}`;
  const locked = await countTry(database, key, BY_SESSION);
  if (locked !== undefined) throw new Locked(locked);
  const person = await findPerson(database, name);
  if (!person) throw new WrongProof();
  try {
    await judge(person);
  } catch (error) {
    if (error instanceof CodeNeeded) await takeBackTry(database, key);
    throw error;
  }
  await forgetTries(database, key);
}

async function requireOwnPassword({ passwordHash }: PersonRow, password: string | undefined): Promise<void> {
  if (password === undefined || !(await isPassword(password, passwordHash))) throw new WrongProof();
}

/** Counts the attempt by name and by address before it checks the password. */
async function judgeSignIn<T>(
  { database }: SignInDeps,
  name: string,
  { address }: Visitor,
  judge: () => Promise<T>,
): Promise<T> {
  const keys = { name: `name ${name.toLowerCase()}`, address: `address ${address}` };
  const locked = (await countTry(database, keys.address, BY_ADDRESS)) ?? (await countTry(database, keys.name, BY_NAME));
  if (locked !== undefined) throw new Locked(locked);
  try {
    const judged = await judge();
    await forgetTries(database, keys.name);
    await takeBackTry(database, keys.address);
    return judged;
  } catch (error) {
    // The password was right, so this attempt was no guess and does not count as a failure.
    if (error instanceof CodeNeeded) {
      await takeBackTry(database, keys.name);
      await takeBackTry(database, keys.address);
    }
    throw error;
  }
}

async function requireCode({ database, vault, clock }: SignInDeps, person: PersonRow, code: string): Promise<void> {
  const place = keyPlaces.secondFactor(person.personId);
  const secret = await openStoredKey(database, vault, person.totpSecret ?? '', place);
  const step = findTotpStep(secret, code, clock.now(), person.totpStep);
  if (step === undefined || !(await useTotpStep(database, person.personId, step))) throw new WrongProof();
}

export async function beginSession(
  { database }: SignInDeps,
  { personId, name }: PersonRow,
  visitor: Visitor,
  by: 'password' | 'single sign-on',
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await database.transaction(async (tx) => {
    const { address, userAgent } = visitor;
    await insertSession(tx, hashToken(token), personId, address, userAgent);
    await storeSignIn(tx, personId);
    await recordAudit(tx, { actor: name, action: 'session.begin', subject: name, detail: { by }, address });
  });
  return token;
}

/**
 * Returns the session of a token unless the session has expired. Extends the session, except for a page's background
 * requests.
 */
export async function openSession(
  { database }: SignInDeps,
  token: string,
  isUnattended = false,
): Promise<SessionRow | undefined> {
  if (!/^[\w-]{43}$/.test(token)) return undefined;
  const session = await findSession(database, hashToken(token));
  if (session?.isStale && !isUnattended) await touchSession(database, session.sessionId);
  return session;
}

/** Returns the token that a page must send with every change. Other sites cannot know it. */
export function csrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

export function isCsrfToken(sessionToken: string, given: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(csrfToken(sessionToken)), hash(given));
}

const hashToken = (token: string) => createHash('sha256').update(token).digest();
