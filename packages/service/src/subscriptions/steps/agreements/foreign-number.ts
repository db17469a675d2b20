import type { Logger } from 'pino';
import type { ActionContext } from '../../../catalog/action.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import { raiseAlert } from '../../../platform/alerts/alerts-sql.js';
import type { Queryable } from '../../../platform/db/database.js';
import { findForeignAgreement, type NumberAtInstitution } from '../../store/agreements/number-sql.js';

/**
 * A channel was refused a number that another has: an operator hears whose it is, the channel does not. The refusal is the
 * channel's answer whether or not an alert can be written; if not, the log says so.
 */
export async function alertForeignNumber(
  log: Logger,
  { channel, database, origin }: Pick<ActionContext<never>, 'channel' | 'database' | 'origin'>,
  number: NumberAtInstitution,
): Promise<void> {
  try {
    await raise(database, channel, number);
  } catch (err) {
    const { appId } = channel;
    log.error(
      { err, requestId: origin.requestId, appId },
      'a number of another channel was refused, and no alert could be written',
    );
  }
}

async function raise(db: Queryable, { channelId, appId }: Channel, number: NumberAtInstitution): Promise<void> {
  const subject = `${appId} ${number.institutionHash.toString('hex').slice(0, 16)}`;
  const theirs = await findForeignAgreement(db, channelId, number);
  const whose = theirs === undefined ? '' : `, in force as ${theirs.agreementNo} of ${theirs.appId}`;
  const detail = `shared at ${number.paymentChannelCode}${whose}`;
  await raiseAlert(db, 'agreement-number-of-another-channel', subject, detail);
}
