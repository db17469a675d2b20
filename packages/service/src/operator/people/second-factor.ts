import { keyPlaces, openStoredKey, wrapStoredKey } from '../../platform/secrets/stored-keys.js';
import { recordAudit } from '../audit/audit.js';
import { type OperatorWithClock, refusal } from '../operator.js';
import { changePerson } from './people.js';
import { storePendingTotp, storeRecoveryHashes, storeTotp } from './people-sql.js';
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.js';
import { createTotpSecret, findTotpStep, totpSecretText, totpUri } from './totp.js';

interface Named {
  readonly name: string;
}

/** Creates a secret for a second factor. The factor takes effect when the operator enters its first code. */
export async function beginTotp(
  operator: OperatorWithClock,
  { name }: Named,
): Promise<{ readonly secret: string; readonly uri: string }> {
  const secret = createTotpSecret();
  await changePerson(operator, name, 'person.begin-totp', async (tx, person) => {
    if (person.totpSecret !== null) throw refusal('codes-set-up')`codes are already set up; remove them first`;
    const place = keyPlaces.secondFactor(person.personId);
    await storePendingTotp(tx, person.personId, await wrapStoredKey(tx, operator.vault, secret, place));
    return {};
  });
  return { secret: totpSecretText(secret), uri: totpUri(secret, name, operator.environment) };
}

/** Cancels a set-up that was begun. */
export async function cancelTotp(operator: OperatorWithClock, { name }: Named): Promise<void> {
  await changePerson(operator, name, 'person.cancel-totp', async (tx, person) => {
    if (person.totpPending === null) return undefined;
    await storePendingTotp(tx, person.personId, null);
    return {};
  });
}

/** Recovery codes, which are shown only once. */
export interface RecoveryCodes {
  readonly recoveryCodes: readonly string[];
}

/** Makes the factor effective if the code is right. The audit log has each wrong code. The caller limits the attempts. */
export async function confirmTotp(
  operator: OperatorWithClock,
  { name, code }: Named & { readonly code: string },
): Promise<RecoveryCodes> {
  const recoveryCodes = createRecoveryCodes();
  const { changed } = await changePerson(operator, name, 'person.set-totp', async (tx, person) => {
    if (person.totpPending === null) {
      throw refusal(
        'codes-not-begun',
      )`the setup of codes was not started, was canceled or is older than ten minutes; start it again`;
    }
    const place = keyPlaces.secondFactor(person.personId);
    const secret = await openStoredKey(tx, operator.vault, person.totpPending, place);
    const step = findTotpStep(secret, code, operator.clock.now(), 0);
    if (step === undefined) {
      await recordAudit(tx, { actor: operator.actor, action: 'person.fail-totp', subject: person.name, detail: {} });
      return undefined;
    }
    await storeTotp(tx, person.personId, person.totpPending, step);
    await storeRecoveryHashes(tx, person.personId, toHashes(recoveryCodes));
    return {};
  });
  if (!changed) throw refusal('code-wrong')`the code is wrong; check the clock of your phone`;
  return { recoveryCodes };
}

/** Creates new recovery codes. The former codes end. */
export async function replaceRecoveryCodes(operator: OperatorWithClock, { name }: Named): Promise<RecoveryCodes> {
  const recoveryCodes = createRecoveryCodes();
  await changePerson(operator, name, 'person.new-recovery-codes', async (tx, person) => {
    if (person.totpSecret === null) throw refusal('codes-not-set-up')`codes are not set up; set them up first`;
    await storeRecoveryHashes(tx, person.personId, toHashes(recoveryCodes));
    return {};
  });
  return { recoveryCodes };
}

const toHashes = (codes: readonly string[]) => codes.flatMap((code) => hashRecoveryCode(code) ?? []);

export async function removeTotp(operator: OperatorWithClock, { name }: Named): Promise<void> {
  await changePerson(operator, name, 'person.remove-totp', async (tx, person) => {
    if (person.totpSecret === null) return undefined;
    await storeTotp(tx, person.personId, null, person.totpStep);
    return {};
  });
}
