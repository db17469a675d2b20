import { deleteSession, listSessions } from '../console/sessions/sessions-sql.js';
import { checkCode, checkPassword, judgeProof, WrongProof } from '../console/sessions/sign-in.js';
import { NotFoundError, refusal } from '../operator/operator.js';
import { changePassword } from '../operator/people/people.js';
import {
  beginTotp,
  cancelTotp,
  confirmTotp,
  removeTotp,
  replaceRecoveryCodes,
} from '../operator/people/second-factor.js';
import * as schema from '../operator/schemas/session.js';
import { operation } from './operation.js';

const refuseWrongProof = (wrong: Error) => (error: unknown) => {
  throw error instanceof WrongProof ? wrong : error;
};

/** Counts first codes by account, because another session may guess them too. A reset of the account ends the lock. */
const keyOfFirstCodes = (name: string) => `pair first-code ${name.toLowerCase()}`;

/** An operator's own account. Signing in and out are separate routes, because they set the cookie. */
export const accountOperations = [
  operation({
    method: 'GET',
    path: '/sessions',
    isOwn: true,
    summary: 'Your open sessions',
    answer: schema.ownSessions,
    async run({ database }, _input, { person }) {
      const sessions = await listSessions(database, person.personId);
      return { sessions: sessions.map((one) => ({ ...one, isThis: one.sessionId === person.sessionId })) };
    },
  }),
  operation({
    method: 'DELETE',
    path: '/sessions/{sessionId}',
    role: 'viewer',
    isOwn: true,
    summary: 'End one of your sessions',
    answer: schema.nothing,
    async run({ database }, { sessionId }, { person }) {
      if (await deleteSession(database, sessionId, person.personId)) return {};
      throw refusal('session-not-yours', NotFoundError)`you have no such session`;
    },
  }),
  operation({
    method: 'PUT',
    path: '/account/password',
    role: 'viewer',
    isOwn: true,
    summary: 'Change your password; your other sessions end',
    body: schema.passwordRequest,
    answer: schema.nothing,
    async run(operator, { current, password }, { person }) {
      // `checkPassword` limits the attempts, so that nobody can guess the password in a session left unattended.
      const wrong = refusal('current-password-wrong')`the current password is wrong`;
      await checkPassword(operator, person, current).catch(refuseWrongProof(wrong));
      await changePassword(operator, { password, name: person.name, sessionId: person.sessionId });
      return {};
    },
  }),
  operation({
    method: 'POST',
    path: '/account/totp',
    role: 'viewer',
    isOwn: true,
    needsProof: true,
    summary: 'Start the setup of codes by an authenticator app',
    answer: schema.totpBegun,
    run: (operator, _input, { person }) => beginTotp(operator, person),
  }),
  operation({
    method: 'PUT',
    path: '/account/totp',
    role: 'viewer',
    isOwn: true,
    needsProof: true,
    summary: 'Finish the setup with a first code; shows ten recovery codes once',
    body: schema.totpRequest,
    answer: schema.recoveryCodes,
    run: (operator, { code }, { person: { name, sessionId } }) =>
      judgeProof(operator, { name, sessionId }, () => confirmTotp(operator, { name, code }), keyOfFirstCodes(name)),
  }),
  operation({
    method: 'DELETE',
    path: '/account/totp',
    role: 'viewer',
    isOwn: true,
    summary: 'Cancel a setup of codes that was started',
    answer: schema.nothing,
    async run(operator, _input, { person }) {
      await cancelTotp(operator, person);
      return {};
    },
  }),
  operation({
    method: 'POST',
    path: '/account/recovery-codes',
    role: 'viewer',
    isOwn: true,
    needsProof: true,
    summary: 'Replace your recovery codes and show them once; the former ones end',
    answer: schema.recoveryCodes,
    run: (operator, _input, { person }) => replaceRecoveryCodes(operator, person),
  }),
  operation({
    method: 'POST',
    path: '/account/totp/remove',
    role: 'viewer',
    isOwn: true,
    summary:
      'signs in by password alone again; needs a code, so that a password alone does not take the second factor away',
    body: schema.totpRequest,
    answer: schema.nothing,
    async run(operator, { code }, { person }) {
      const wrong = refusal('code-not-right')`the code is wrong or was already used`;
      await checkCode(operator, person, code).catch(refuseWrongProof(wrong));
      await removeTotp(operator, person);
      return {};
    },
  }),
];
