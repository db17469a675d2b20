import { Rejection } from '@perennial/wire';
import type { Queryable } from '../../../platform/db/database.js';
import { countSmsSends, insertSmsSend, lockBankMobile } from '../../store/agreements/sms-limit-sql.js';

const PAUSE_MS = 60_000;
const DAY_MS = 24 * 60 * PAUSE_MS;
const MAX_SENDS_A_DAY = 10;
/** The maximum number of sends to a phone that one visitor of the redemption page can cause a day. */
const MAX_SENDS_OF_VISITOR = 3;

/**
 * Counts a text message code before it is sent, or throws SMS_TOO_FREQUENT. With `resumed`, the same request continues
 * after a crash, so it need not pause after its own earlier code. The daily limit applies in any case, so that repeated
 * crashes do not flood a phone. `visitorHash` stands for the visitor of the redemption page who causes the send, and for
 * the phone.
 */
export async function reserveSmsSend(
  tx: Queryable,
  bankMobileHash: Buffer,
  now: number,
  { resumed = false, visitorHash }: { readonly resumed?: boolean; readonly visitorHash?: Buffer },
): Promise<void> {
  await lockBankMobile(tx, bankMobileHash);
  const times = { pause: now - PAUSE_MS, day: now - DAY_MS, latest: now + PAUSE_MS };
  const sent = await countSmsSends(tx, { hash: bankMobileHash, ...times });
  if (sent.day >= MAX_SENDS_A_DAY || (sent.pause > 0 && !resumed)) throw new Rejection('SMS_TOO_FREQUENT');
  if (visitorHash) {
    const caused = await countSmsSends(tx, { hash: visitorHash, ...times });
    if (caused.day >= MAX_SENDS_OF_VISITOR) throw new Rejection('SMS_TOO_FREQUENT');
    await insertSmsSend(tx, visitorHash, now);
  }
  await insertSmsSend(tx, bankMobileHash, now);
}
