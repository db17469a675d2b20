import { createHash, randomBytes } from 'node:crypto';
import { recordAudit } from '../audit/audit.js';
import { type Changed, inTransaction, type Operator, refusal } from '../operator.js';
import { createNotFound, quoted, requireFound, requireOneOf } from '../rules.js';
import { hashPassword, requireNewPassword, requirePassword } from './passwords.js';
import {
  describePeople,
  endSessions,
  findPerson,
  forgetFailures,
  hasSession,
  insertPerson,
  lockActiveAdmins,
  lockPerson,
  lockPersonBySetup,
  type PersonRow,
  type PersonView,
  removeSingleSignOn,
  storePassword,
  storePersonStatus,
  storeRole,
  storeSetup,
} from './people-sql.js';
import { ROLES } from './roles.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$/;

/** Lifetime of a setup link in hours. */
export const SETUP_HOURS = 24;

/**
 * An operator with the token of a new setup link, which is shown only once. The token is null if a password was given
 * instead.
 */
export interface PersonWithToken {
  readonly person: PersonView;
  readonly setupToken: string | null;
}

/** Creates an operator. If no password is given, the operator sets one with the setup link. */
export async function createPerson(
  operator: Operator,
  input: { readonly name: string; readonly role: string; readonly password?: string },
): Promise<PersonWithToken> {
  const { name } = input;
  if (!NAME.test(name)) {
    throw refusal(
      'person-name-malformed',
    )`a name must be 1 to 64 characters of a-z, 0-9 and . _ @ + -, not ${quoted(name)}`;
  }
  const role = requireOneOf('the role', input.role, ROLES);
  const passwordHash =
    input.password === undefined ? undefined : await hashPassword(requirePassword(input.password, name), name);
  return inTransaction(operator, async (tx) => {
    const personId = await insertPerson(tx, { name, role, by: operator.actor });
    if (personId === undefined) throw refusal('person-exists')`there is already an operator called ${quoted(name)}`;
    let setupToken: string | null = null;
    if (passwordHash !== undefined) await storePassword(tx, personId, passwordHash);
    else {
      setupToken = createSetupToken();
      await storeSetup(tx, personId, hashSetupToken(setupToken), SETUP_HOURS);
    }
    await recordAudit(tx, { actor: operator.actor, action: 'person.create', subject: name, detail: { role } });
    return { person: await requirePersonView(tx, name), setupToken };
  });
}

interface Named {
  readonly name: string;
}

export async function disablePerson(operator: Operator, { name }: Named): Promise<Changed<PersonView>> {
  return changePerson(operator, name, 'person.disable', async (tx, person) => {
    if (person.status === 'DISABLED') return undefined;
    await requireAnotherAdmin(tx, person);
    await storePersonStatus(tx, person.personId, 'DISABLED');
    await endSessions(tx, person.personId);
    return { from: 'ACTIVE', to: 'DISABLED' };
  });
}

export async function enablePerson(operator: Operator, { name }: Named): Promise<Changed<PersonView>> {
  return changePerson(operator, name, 'person.enable', async (tx, person) => {
    if (person.status === 'ACTIVE') return undefined;
    await storePersonStatus(tx, person.personId, 'ACTIVE');
    return { from: 'DISABLED', to: 'ACTIVE', role: person.role };
  });
}

export async function setRole(
  operator: Operator,
  { name, role: asked }: Named & { readonly role: string },
): Promise<Changed<PersonView>> {
  const role = requireOneOf('the role', asked, ROLES);
  return changePerson(operator, name, 'person.set-role', async (tx, person) => {
    if (person.role === role) return undefined;
    await requireAnotherAdmin(tx, person);
    await storeRole(tx, person.personId, role);
    // Ends the operator's sessions, because open pages still offer the actions of the former role.
    await endSessions(tx, person.personId);
    return { from: person.role, to: role };
  });
}

/** Removes the password and the second factor of an operator who has lost one of them, and creates a setup link. */
export async function resetPerson(operator: Operator, { name }: Named): Promise<PersonWithToken> {
  const setupToken = createSetupToken();
  const person = await changePerson(operator, name, 'person.reset', async (tx, { personId, role }) => {
    await storeSetup(tx, personId, hashSetupToken(setupToken), SETUP_HOURS);
    await endSessions(tx, personId);
    await forgetFailures(tx, name);
    return { role };
  });
  const { changed: _changed, ...view } = person;
  return { person: view, setupToken };
}

/** Unlinks the operator from their account at the identity provider, and ends their sessions. */
export async function unbindPerson(operator: Operator, { name }: Named): Promise<Changed<PersonView>> {
  return changePerson(operator, name, 'person.remove-single-sign-on', async (tx, person) => {
    if (person.passwordHash === null) await requireAnotherAdmin(tx, person);
    if (!(await removeSingleSignOn(tx, person.personId))) return undefined;
    await endSessions(tx, person.personId);
    return { role: person.role };
  });
}

/** Sets a password with a setup link, which works only once. Ends all sessions of the operator. */
export async function completeSetup(
  operator: Operator,
  { token, password }: { readonly token: string; readonly password: string },
): Promise<Named> {
  const found = await inTransaction(operator, (tx) => lockPersonBySetup(tx, hashSetupToken(token)));
  if (found?.status !== 'ACTIVE') throw createSetupRefusal();
  requirePassword(password, found.name);
  await requireNewPassword(password, found);
  const passwordHash = await hashPassword(password, found.name);
  return inTransaction(operator, async (tx) => {
    const person = await lockPersonBySetup(tx, hashSetupToken(token));
    if (!person) throw createSetupRefusal();
    await storePassword(tx, person.personId, passwordHash);
    await endSessions(tx, person.personId);
    await forgetFailures(tx, person.name);
    await recordAudit(tx, { actor: person.name, action: 'person.set-password', subject: person.name, detail: {} });
    return { name: person.name };
  });
}

const createSetupRefusal = () =>
  refusal('setup-link-invalid')`this link is invalid, was used, or is older than a day; ask for a new one`;

/**
 * Changes the operator's own password. The caller has checked the current password. Ends the operator's other sessions.
 */
export async function changePassword(
  operator: Operator,
  { name, password, sessionId }: Named & { readonly password: string; readonly sessionId: string },
): Promise<void> {
  requirePassword(password, name);
  const before = await findPerson(operator.database, name);
  if (before) await requireNewPassword(password, before);
  const passwordHash = await hashPassword(password, name);
  await changePerson(operator, name, 'person.set-password', async (tx, person) => {
    // An admin may have reset the operator while the hashes were computed. The checked password is then wrong.
    if (!(await hasSession(tx, sessionId))) throw refusal('current-password-wrong')`the current password is wrong`;
    await storePassword(tx, person.personId, passwordHash);
    await endSessions(tx, person.personId, sessionId);
    return {};
  });
}

type ChangeWork = (
  tx: Parameters<Parameters<typeof inTransaction>[1]>[0],
  person: PersonRow,
) => Promise<Readonly<Record<string, unknown>> | undefined>;

/** Changes an operator under the row lock. Writes an audit entry if `work` changed something. */
export async function changePerson(
  operator: Operator,
  name: string,
  action: string,
  work: ChangeWork,
): Promise<Changed<PersonView>> {
  return inTransaction(operator, async (tx) => {
    const person = await lockPerson(tx, name);
    if (!person) throw createNotFound('person', name);
    const detail = await work(tx, person);
    if (detail) await recordAudit(tx, { actor: operator.actor, action, subject: person.name, detail });
    return { ...(await requirePersonView(tx, name)), changed: detail !== undefined };
  });
}

async function requireAnotherAdmin(tx: Parameters<ChangeWork>[0], person: PersonRow): Promise<void> {
  if (person.role !== 'admin' || person.status !== 'ACTIVE') return;
  const admins = await lockActiveAdmins(tx);
  if (admins.length === 1)
    throw refusal('only-admin')`${person.name} is the only admin; make another operator admin first`;
  const [able, ...others] = admins.filter(({ canSignIn }) => canSignIn);
  if (able?.personId === person.personId && others.length === 0) {
    throw refusal(
      'only-admin-who-can-sign-in',
    )`${person.name} is the only admin who can sign in; another admin must set a password first`;
  }
}

async function requirePersonView(db: Parameters<typeof describePeople>[0], name: string): Promise<PersonView> {
  return requireFound(await describePeople(db, name), 'person', name);
}

const createSetupToken = () => randomBytes(24).toString('base64url');
const hashSetupToken = (token: string) => createHash('sha256').update(`setup ${token}`).digest();
