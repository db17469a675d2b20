import type { Logger } from 'pino';
import { alertText } from '../../../alerts/alert-wordings.js';
import { raiseAlert } from '../../../alerts/alerts-sql.js';
import type { Channel } from '../../../catalog/channels/channel.js';
import type { Queryable } from '../../../platform/db/database.js';
import type { Origin } from '../../../platform/tracing.js';
import { findAgreementOfAnotherChannel, type NumberAtInstitution } from '../../store/agreements/same-number-sql.js';

/**
 * Raises an alert that a channel has tried to share an agreement number of a different channel. The alert names the
 * owner, if the owner still has the number. The API's answer never names the owner. If the alert cannot be stored, this
 * is only logged.
 */
export async function alertNumberOfAnotherChannel(
  log: Logger,
  { channel, database, origin }: { readonly channel: Channel; readonly database: Queryable; readonly origin: Origin },
  number: NumberAtInstitution,
): Promise<void> {
  try {
    await raiseNumberAlert(database, channel, number);
  } catch (err) {
    const { appId } = channel;
    log.error(
      { err, requestId: origin.requestId, appId },
      'refused a number of another channel, but could not store the alert; check the database',
    );
  }
}

async function raiseNumberAlert(
  db: Queryable,
  { channelId, appId }: Channel,
  number: NumberAtInstitution,
): Promise<void> {
  const subject = `${appId} ${number.institutionHash.toString('hex').slice(0, 16)}`;
  const otherAgreement = await findAgreementOfAnotherChannel(db, channelId, number);
  const at = number.paymentChannelCode;
  const detail = otherAgreement
    ? alertText('agreement-number-of-another-channel|in-force', at, otherAgreement.agreementNo, otherAgreement.appId)
    : alertText('agreement-number-of-another-channel', at);
  await raiseAlert(db, 'agreement-number-of-another-channel', subject, detail);
}
