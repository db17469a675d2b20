import { type ChannelSetData, type ChannelSetRequest, Rejection } from '@perennial/wire';
import type { Action } from '../../catalog/action.js';
import type { ChannelView } from '../../catalog/channels/channel-provisioning-sql.js';
import { CREDENTIAL_NAMES, type Credentials } from '../../catalog/channels/credentials.js';
import { Unavailable } from '../../platform/db/database.js';
import { type FieldReader, readPlaintext } from '../../subscriptions/domain/agreements/plaintext.js';
import { BusyError, inTransaction, type Operator, OperatorError } from '../operator.js';
import { requireChannelView } from './channel-change.js';
import { setCallback, setEncryption, setUpcomingNotices } from './channel-settings.js';
import { replaceCredentials } from './channels.js';

export type OwnSettingsDeps = Pick<Operator, 'vault' | 'environment' | 'localCallbacks'>;

/**
 * sandbox/channel/set: a channel changes its own settings, by the operators' actions and with their checks and audit
 * entries. The channel chooses new secrets itself: so no answer contains a secret, and a repeated request changes
 * nothing.
 */
export function createOwnSettingsAction(deps: OwnSettingsDeps): Action<ChannelSetRequest, ChannelSetData> {
  return async (context, { overlapHours = 0, ...asked }) => {
    const { database, answer } = context;
    const { appId } = context.channel;
    const secrets = readSecrets(context, asked);
    const operator: Operator = { ...deps, database, actor: `channel:${appId}` };
    const { callbackUrl, encryptedFields, upcomingNoticeDays: days } = asked;
    if (Object.keys(asked).length === 0) return answer(toSettings(await requireChannelView(database, appId)));
    const changed = await asRejections(() =>
      inTransaction(operator, async (tx, joined) => {
        if (callbackUrl !== undefined)
          await setCallback(joined, { appId, url: callbackUrl === '' ? null : callbackUrl });
        if (encryptedFields !== undefined) await setEncryption(joined, { appId, answers: encryptedFields });
        if (days !== undefined) await setUpcomingNotices(joined, { appId, days: days === 0 ? null : days });
        if (Object.keys(secrets).length > 0) await replaceCredentials(joined, { appId, secrets, overlapHours });
        return requireChannelView(tx, appId);
      }),
    );
    return answer(toSettings(changed));
  };
}

type SealedSecrets = Pick<ChannelSetRequest, 'appSecretEncrypted' | 'aesKeyEncrypted' | 'callbackSecretEncrypted'>;

function readSecrets(reader: FieldReader, sealed: SealedSecrets): Partial<Credentials> {
  const given = CREDENTIAL_NAMES.flatMap((name) => {
    const field = `${name}Encrypted` as const;
    const text = sealed[field];
    return text === undefined ? [] : [[name, Buffer.from(readPlaintext(reader, 'secret', text, field), 'base64')]];
  });
  return Object.fromEntries(given);
}

function toSettings(view: ChannelView): ChannelSetData {
  const { callbackUrls, answerEncryption, acceptsV1, upcomingNoticeDays, formerSecretUntil } = view;
  return {
    callbackUrls: callbackUrls.map(({ eventType, url }) => ({ forEvents: eventType, url })),
    encryptedFields: answerEncryption,
    acceptsV1,
    upcomingNoticeDays: upcomingNoticeDays ?? 0,
    formerSecretUntil,
  };
}

/** Converts a refusal of an operators' action to a result code. */
async function asRejections<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BusyError) throw new Unavailable(error.message, { cause: error });
    throw error instanceof OperatorError ? new Rejection('PARAM_INVALID', error.message) : error;
  }
}
