import { type Clock, createPerSecondLimit } from '../platform/clock.js';
import { columns, type Queryable, statement } from '../platform/db/database.js';
import { type Gateway, type Notice, NoticeRefused, type RawNotice } from './gateway.js';
import { type Gateways, NoSuchGateway } from './registry.js';

export interface NoticeVerifier {
  /** Whether this node has met the payment channel; nothing is read for it. */
  knows(paymentChannelCode: string): boolean;
  /** Throws NoticeRefused for what does not come from the institution of that payment channel, or says nothing. */
  verify(paymentChannelCode: string, notice: RawNotice): Promise<Notice>;
}

/** For what does not hold, in case that a key or a payment channel is new. */
const READS_PER_SECOND = 10;

interface Known {
  readonly mayRead: () => boolean;
  gateway: Gateway | undefined;
}

const LIST_CODES = statement({
  text: 'select code from payment_channels',
  parameters: [],
  columns: columns<{ code: string }>({ code: 'text' }),
});

/**
 * Anybody can send a notice. One that does not hold by what this node remembers has the database asked ten times a second
 * at most, however many there are; what was read then is remembered for all. One that holds is checked with the key of
 * this moment: an old key ends at once.
 */
export function noticeVerifier(db: Queryable, gateways: Gateways, clock: Clock): NoticeVerifier {
  const known = new Map<string, Known>();
  const mayReadCodes = createPerSecondLimit(READS_PER_SECOND, clock);

  /** All at once, so that it does not matter which of many unknown codes was the one to be looked up. */
  async function find(code: string): Promise<Known> {
    if (!known.has(code) && mayReadCodes()) {
      for (const row of await db.query(LIST_CODES)) {
        if (!known.has(row.code))
          known.set(row.code, { mayRead: createPerSecondLimit(READS_PER_SECOND, clock), gateway: undefined });
      }
    }
    const found = known.get(code);
    if (!found) throw new NoticeRefused('untrusted', `there is no payment channel ${code}`);
    return found;
  }

  return {
    knows: (code) => known.has(code),
    async verify(code, notice) {
      const found = await find(code);
      const doubt = found.gateway && doubtAbout(found.gateway, notice);
      if (doubt && !found.mayRead()) throw doubt;
      found.gateway = await gateways.of(code).catch((error: unknown) => {
        throw error instanceof NoSuchGateway ? new NoticeRefused('untrusted', error.message) : error;
      });
      return found.gateway.verifyNotice(notice);
    },
  };
}

function doubtAbout(gateway: Gateway, notice: RawNotice): NoticeRefused | undefined {
  try {
    gateway.verifyNotice(notice);
    return undefined;
  } catch (error) {
    if (error instanceof NoticeRefused) return error.kind === 'untrusted' ? error : undefined;
    throw error;
  }
}
