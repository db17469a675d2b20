import { type Clock, createPerSecondLimit } from '../platform/clock.js';
import { columns, type Queryable, statement } from '../platform/db/database.js';
import { type Gateway, type Notice, NoticeRefused, type RawNotice } from './gateway.js';
import { type Gateways, NoSuchGateway } from './gateway-registry.js';

/**
 * The maximum number of database reads per second that notices can cause if they fail the check: for each payment
 * channel, and for all unknown codes together. Such a read may find a new key or payment channel.
 */
const MAX_READS_PER_SECOND = 10;

interface KnownPaymentChannel {
  readonly mayRead: () => boolean;
  gateway: Gateway | undefined;
}

const LIST_PAYMENT_CHANNEL_CODES = statement({
  text: 'select code from payment_channels',
  parameters: [],
  columns: columns({ code: 'text' }),
});

/**
 * Verifies notices, which anybody can send. A notice may fail because a key is new. So the database is read again, but
 * at most ten times a second for each payment channel, and the result is cached for all notices. A notice that passes
 * is checked again with the current key, so that an old key stops working at once.
 */
export function createNoticeVerifier(db: Queryable, gateways: Gateways, clock: Clock) {
  const known = new Map<string, KnownPaymentChannel>();
  const mayReadCodes = createPerSecondLimit(MAX_READS_PER_SECOND, clock);

  /**
   * Finds a payment channel. Reads the codes of all payment channels, so that one read answers for every unknown code.
   */
  async function findPaymentChannel(code: string): Promise<KnownPaymentChannel> {
    if (!known.has(code) && mayReadCodes()) {
      for (const row of await db.query(LIST_PAYMENT_CHANNEL_CODES)) {
        if (!known.has(row.code))
          known.set(row.code, { mayRead: createPerSecondLimit(MAX_READS_PER_SECOND, clock), gateway: undefined });
      }
    }
    const found = known.get(code);
    if (!found) throw new NoticeRefused('untrusted', `there is no payment channel ${code}`);
    return found;
  }

  return {
    /** Returns true if this node knows the payment channel. Does not read the database. */
    knows: (code: string): boolean => known.has(code),
    /** Throws NoticeRefused if the notice is not from the payment channel's institution, or is unusable. */
    async verify(code: string, notice: RawNotice): Promise<Notice> {
      const found = await findPaymentChannel(code);
      const doubt = found.gateway && findDoubt(found.gateway, notice);
      if (doubt && !found.mayRead()) throw doubt;
      found.gateway = await gateways.of(code).catch((error: unknown) => {
        throw error instanceof NoSuchGateway ? new NoticeRefused('untrusted', error.message) : error;
      });
      return found.gateway.verifyNotice(notice);
    },
  };
}

export type NoticeVerifier = ReturnType<typeof createNoticeVerifier>;

function findDoubt(gateway: Gateway, notice: RawNotice): NoticeRefused | undefined {
  try {
    gateway.verifyNotice(notice);
    return undefined;
  } catch (error) {
    if (error instanceof NoticeRefused) return error.kind === 'untrusted' ? error : undefined;
    throw error;
  }
}
