import type { Channel } from '../../../catalog/channels/channel.js';
import { sqlState } from '../../../platform/db/database.js';
import { MisplacedKey } from '../../../platform/secrets/vault.js';
import { isMobile } from '../../../subscriptions/domain/agreements/plaintext.js';
import { createUserRow, unsealUserMobile } from '../../../subscriptions/steps/users/login-mobile.js';
import { findUser, storeMobile } from '../../../subscriptions/store/users/users-sql.js';
import { recordAudit } from '../../audit/audit.js';
import { traceRead } from '../../audit/trace-read.js';
import { maskMobile } from '../../masking.js';
import { inTransaction, type Operator, refusal } from '../../operator.js';
import { requireName } from '../../rules.js';
import { createNoSuchUser, hashUser, requireChannelOf, type UserInput, userSubject } from './find-user.js';

interface MobileInput extends UserInput {
  readonly mobile: string;
  readonly reason: string;
}

/** A requested change as it may be stored: without a mobile number in clear. */
interface PreparedMobile extends MobileInput {
  /** Sealed. */
  readonly mobile: string;
  /** A keyed hash of the new number. It identifies a repeated request. */
  readonly mobileHash: string;
  /** A keyed hash of the number at the time of the request. The change is refused if the number differs by then. */
  readonly formerHash: string;
  /** Masked. */
  readonly formerMobile: string;
  /** Masked. */
  readonly newMobile: string;
}

/**
 * Checks and seals the new number. A refusal says whether a number is taken, so the audit log records the number's hash
 * first, and counts it like a search.
 */
export async function prepareMobile(operator: Operator, input: MobileInput): Promise<PreparedMobile> {
  const { appId, channelUserId } = input;
  const mobile = input.mobile.trim();
  const reason = requireName('the reason', input.reason);
  if (!isMobile(mobile)) throw refusal('mobile-malformed')`a mobile number has an optional + and 5 to 20 digits`;
  const channel = await requireChannelOf(operator, appId);
  await traceRead(operator, 'search.mobile', 'mobile', mobile);
  const user = await findUser(operator.database, channel.channelId, channelUserId);
  if (!user) throw createNoSuchUser(input);
  const former = unsealUserMobile(channel, user);
  if (former === mobile) throw refusal('mobile-same')`this is already the mobile number of the user`;
  return {
    appId,
    channelUserId,
    reason,
    mobile: channel.sealing.seal(mobile, newMobilePlace(channelUserId)),
    mobileHash: channel.sealing.hash(mobile, 'mobile').toString('hex'),
    formerHash: user.mobileHash.toString('hex'),
    formerMobile: maskMobile(former),
    newMobile: maskMobile(mobile),
  };
}

/**
 * Binds a user to another mobile number. The hash and the sealed number change together. Throws if the number belongs
 * to another user of the channel, or if the user's number has changed since the request.
 */
export async function changeMobile(operator: Operator, input: MobileInput) {
  const { appId, channelUserId, reason, mobile, formerHash, formerMobile, newMobile } = input as PreparedMobile;
  const channel = await requireChannelOf(operator, appId);
  const { channelId } = channel;
  const row = createUserRow(channel, channelUserId, unsealNewMobile(channel, channelUserId, mobile));
  await inTransaction(operator, async (tx) => {
    const user = await findUser(tx, channelId, channelUserId);
    if (!user) throw createNoSuchUser(input);
    // The statement compares the hash again, because a concurrent change may have come first.
    const isChanged = await storeMobile(tx, { channelId, formerHash: Buffer.from(formerHash, 'hex'), ...row }).catch(
      (error: unknown) => {
        if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
        throw refusal('mobile-taken')`this mobile number belongs to another user of channel ${appId}`;
      },
    );
    if (!isChanged) {
      throw refusal('mobile-changed')`the mobile number of this user has changed since the request; request it again`;
    }
    const subject = userSubject(hashUser(channel, channelUserId));
    const detail = { appId, formerMobile, newMobile, reason };
    await recordAudit(tx, { actor: operator.actor, action: 'user.change-mobile', subject, detail });
  });
  return { appId, mobile: newMobile, changed: true };
}

const UNIQUE_VIOLATION = '23505';

/** The user id is in quotes, because the log removes quoted values from messages. */
const newMobilePlace = (channelUserId: string) => `new mobile of "${channelUserId}"`;

/** A request may wait until the data key, under which it was sealed, was replaced and deleted. */
function unsealNewMobile({ sealing }: Channel, channelUserId: string, sealed: string): string {
  try {
    return sealing.unseal(sealed, newMobilePlace(channelUserId));
  } catch (error) {
    if (!(error instanceof MisplacedKey)) throw error;
    throw refusal('mobile-unreadable')`the data key of the channel was replaced since the request; request it again`;
  }
}
