import { REAL_NAMES } from './cast.js';
import type { StoryCard } from './interface-calls.js';
import type { StagedChannel } from './provision.js';
import type { Stage } from './stage.js';

/** Somebody who subscribes, as their channel knows them. */
export interface Subscriber {
  readonly channelUserId: string;
  readonly mobile: string;
  readonly card: StoryCard;
  /** Whether they claim what they are given. */
  readonly isEager: boolean;
  /** Once a card is bound. */
  binding?: { readonly bindOrderNo: string; readonly paymentChannelCode: string };
}

/** The users of all channels. One in five orders is of somebody who has ordered before. */
export function createSubscribers({ random, telling }: Pick<Stage, 'random' | 'telling'>) {
  const known = new Map<string, Subscriber[]>();
  let count = 0;

  function create({ prefix }: StagedChannel): Subscriber {
    count += 1;
    // A number that is not given to anybody: the prefix 1999 is not in use.
    const mobile = `1999${String(telling % 10)}${String(count).padStart(6, '0')}`;
    return {
      channelUserId: `${prefix.toLowerCase()}-u${String(telling)}${String(count).padStart(6, '0')}`,
      mobile,
      card: createCard(mobile),
      isEager: random.chance(0.6),
    };
  }

  function createCard(bankMobile: string): StoryCard {
    return {
      bankCardNo: `622200${random.digits(13)}`,
      bankMobile,
      certificateNo: `000000${1960 + random.between(0, 45)}0101${random.digits(4)}`,
      realName: random.pick(REAL_NAMES),
    };
  }

  return {
    next(channel: StagedChannel, kind: 'anybody' | 'somebody-new'): Subscriber {
      const users = known.get(channel.appId) ?? [];
      known.set(channel.appId, users);
      if (kind === 'anybody' && users.length > 5 && random.chance(0.2)) return random.pick(users);
      const user = create(channel);
      users.push(user);
      return user;
    },
    createCard,
  };
}

export type Subscribers = ReturnType<typeof createSubscribers>;
