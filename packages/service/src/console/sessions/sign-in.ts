import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { recordAudit } from '../../operator/audit/audit.js';
import { isPassword, requirePlace, TooManySignIns } from '../../operator/people/passwords.js';
import {
  findPerson,
  type PersonRow,
  storeSignIn,
  useRecoveryHash,
  useTotpStep,
} from '../../operator/people/people-sql.js';
import { hashRecoveryCode } from '../../operator/people/recovery-codes.js';
import { findTotpStep } from '../../operator/people/totp.js';
import type { Clock } from '../../platform/clock.js';
import type { Transactional } from '../../platform/db/database.js';
import { keyPlaces, openStoredKey } from '../../platform/secrets/stored-keys.js';
import type { Vault } from '../../platform/secrets/vault.js';
import { createDevice, readDevice } from './device.js';
import { BY_ADDRESS, BY_NAME, BY_SOURCE, countTry, forgetTries, type LockOut, takeBackTry } from './failures-sql.js';
import {
  deleteSessionOfToken,
  findSession,
  insertSession,
  type SessionRow,
  storeProof,
  touchSession,
} from './sessions-sql.js';

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
  /** The cookie of this browser, if an operator has signed in here before. */
  readonly device?: string | undefined;
  /** The token of the browser's session, which the new session replaces. */
  readonly token?: string | undefined;
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

/** Creates a session, and the cookie of the device. Only the hash of the session's token is stored. */
export async function signIn(
  deps: SignInDeps,
  { name, ...proof }: Proof & { readonly name: string },
  visitor: Visitor,
): Promise<{ readonly token: string; readonly device: string }> {
  const person = await findPerson(deps.database, name);
  const known = person && readDevice(deps.vault, visitor.device, person.personId);
  const by = known === undefined ? undefined : person?.name;
  // Comes before the attempt is counted, so a full queue neither counts as a failure nor costs writes.
  requirePlace(by);
  return judgeSignIn(deps, countersOf(name, visitor, known), async () => {
    // Checks the password against a dummy hash if the name is unknown, so that both cases take the same time.
    const isRight = await isPassword(proof.password ?? '', person?.passwordHash ?? null, by);
    if (!isRight || person?.status !== 'ACTIVE') throw new WrongProof();
    if (person.totpSecret !== null) {
      if (proof.code === undefined || proof.code === '') throw new CodeNeeded();
      await requireCode(deps, person, proof.code);
    }
    const token = await beginSession(deps, person, visitor, { by: 'password' });
    return { token, device: createDevice(deps.vault, person.personId) };
  });
}

type OwnSession = Pick<SessionRow, 'name' | 'sessionId'>;

/**
 * Confirms the identity of a signed-in operator again. Needs the password if the operator has one, and a code if codes
 * are set up.
 */
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

/** Checks the password before it is changed. Does not confirm the identity for other actions. */
export async function checkPassword(deps: SignInDeps, session: OwnSession, password: string): Promise<void> {
  await judgeProof(deps, session, (person) => requireOwnPassword(person, password));
}

/** Checks a code before the codes are removed. Does not confirm the identity for other actions. */
export async function checkCode(deps: SignInDeps, session: OwnSession, code: string): Promise<void> {
  await judgeProof(deps, session, async (person) => {
    if (person.totpSecret === null) throw new WrongProof();
    await requireCode(deps, person, code);
  });
}

/**
 * Counts attempts per session by default, so that failed sign-ins under the same name do not lock the operator of the
 * session. Counts an attempt before it is checked.
 */
export async function judgeProof<T>(
  { database }: Pick<SignInDeps, 'database'>,
  { name, sessionId }: OwnSession,
  judge: (person: PersonRow) => Promise<T>,
  key = `session ${sessionId}`,
): Promise<T> {
  const locked = await countTry(database, key, BY_SOURCE);
  if (locked !== undefined) throw new Locked(locked);
  const person = await findPerson(database, name);
  if (!person) throw new WrongProof();
  try {
    const judged = await judge(person);
    await forgetTries(database, key);
    return judged;
  } catch (error) {
    if (isNoGuess(error)) await takeBackTry(database, key);
    throw error;
  }
}

async function requireOwnPassword({ name, passwordHash }: PersonRow, password: string | undefined): Promise<void> {
  if (password === undefined || !(await isPassword(password, passwordHash, name))) throw new WrongProof();
}

/** Counters of failed attempts, by their keys. */
type Counters = Readonly<Record<string, LockOut>>;

/**
 * Returns the counters of an attempt. A known device has its own counter. Attempts from an unknown device lock the name
 * for their address long before they lock it for all unknown devices.
 */
function countersOf(name: string, { address }: Visitor, knownDevice: string | undefined): Counters {
  if (knownDevice !== undefined) return { [`device ${knownDevice}`]: BY_SOURCE };
  const lower = name.toLowerCase();
  return { [`address ${address}`]: BY_ADDRESS, [`pair ${address} ${lower}`]: BY_SOURCE, [`name ${lower}`]: BY_NAME };
}

/** Returns true if the password was right or was not checked. Such an attempt does not count as a failure. */
const isNoGuess = (error: unknown) => error instanceof CodeNeeded || error instanceof TooManySignIns;

/** Counts the attempt before it checks the password. */
async function judgeSignIn<T>({ database }: SignInDeps, counters: Counters, judge: () => Promise<T>): Promise<T> {
  for (const [key, rule] of Object.entries(counters)) {
    const locked = await countTry(database, key, rule);
    if (locked !== undefined) throw new Locked(locked);
  }
  try {
    const judged = await judge();
    for (const [key, rule] of Object.entries(counters)) {
      await (rule === BY_ADDRESS ? takeBackTry(database, key) : forgetTries(database, key));
    }
    return judged;
  } catch (error) {
    if (isNoGuess(error)) for (const key of Object.keys(counters)) await takeBackTry(database, key);
    throw error;
  }
}

/** Accepts a code of the authenticator app, or uses up a recovery code. */
async function requireCode({ database, vault, clock }: SignInDeps, person: PersonRow, code: string): Promise<void> {
  const recoveryHash = hashRecoveryCode(code);
  if (recoveryHash !== undefined) return useRecoveryCode(database, person, recoveryHash);
  const place = keyPlaces.secondFactor(person.personId);
  const secret = await openStoredKey(database, vault, person.totpSecret ?? '', place);
  const step = findTotpStep(secret, code, clock.now(), person.totpStep);
  if (step === undefined || !(await useTotpStep(database, person.personId, step))) throw new WrongProof();
}

/** Concurrent uses of a code wait for the operator's row, so only one succeeds. */
async function useRecoveryCode(database: Transactional, { personId, name }: PersonRow, hash: string): Promise<void> {
  await database.transaction(async (tx) => {
    const left = await useRecoveryHash(tx, personId, hash);
    if (left === undefined) throw new WrongProof();
    await recordAudit(tx, { actor: name, action: 'person.use-recovery-code', subject: name, detail: { left } });
  });
}

interface BeginOptions {
  readonly by: 'password' | 'single sign-on';
  /** False if the identity provider may have signed the operator in without authenticating the operator again. */
  readonly isProven?: boolean;
  /** The hash of the token of the browser's former session. Default: the hash of the visitor's token. */
  readonly replaces?: Buffer | null;
}

/**
 * Begins a session and ends the browser's former session. Throws WrongProof if the operator was disabled or reset, or
 * got another password, while `person` was checked.
 */
export async function beginSession(
  { database }: SignInDeps,
  { personId, name, passwordHash }: PersonRow,
  visitor: Visitor,
  { by, isProven = true, replaces }: BeginOptions,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await database.transaction(async (tx) => {
    if (!(await storeSignIn(tx, personId, passwordHash))) throw new WrongProof();
    const { address, userAgent } = visitor;
    const former = replaces ?? (visitor.token === undefined ? undefined : hashToken(visitor.token));
    if (former) await deleteSessionOfToken(tx, former);
    const isBySingleSignOn = by === 'single sign-on';
    await insertSession(tx, { tokenHash: hashToken(token), personId, address, userAgent, isBySingleSignOn, isProven });
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

export const hashToken = (token: string) => createHash('sha256').update(token).digest();
