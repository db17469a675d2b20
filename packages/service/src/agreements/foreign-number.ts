import type { Channel } from '../channels/channel.js';
import type { Queryable } from '../db/database.js';
import { raiseAlert } from '../payments/alerts-sql.js';
import { findForeignAgreement, type NumberAtInstitution } from './foreign-number-sql.js';

/** A channel was refused a number that another has: an operator hears whose it is, the channel does not. */
export async function alertForeignNumber(
  db: Queryable,
  { channelId, appId }: Channel,
  number: NumberAtInstitution,
): Promise<void> {
  const subject = `${appId} ${number.institutionHash.toString('hex').slice(0, 16)}`;
  const theirs = await findForeignAgreement(db, channelId, number);
  const whose = theirs === undefined ? '' : `, in force as ${theirs.agreementNo} of ${theirs.appId}`;
  const detail = `shared at ${number.paymentChannelCode}${whose}`;
  await raiseAlert(db, 'agreement-number-of-another-channel', subject, detail);
}
