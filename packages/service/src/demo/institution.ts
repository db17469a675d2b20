import { formatTime } from '@perennial/wire';
import {
  type BindOutcome,
  type DebitOutcome,
  type DebitQuery,
  type Decline,
  type Gateway,
  NoticeRefused,
  type RefundOutcome,
} from '../gateways/gateway.js';
import type { Clock } from '../platform/clock.js';
import type { Random } from './random.js';

/** What becomes of one try to debit a period. */
export type DebitFate =
  | { readonly kind: 'paid' }
  /** It is known so many seconds later. */
  | { readonly kind: 'paid-later'; readonly seconds: number }
  | { readonly kind: 'declined'; readonly decline: Decline; readonly reason: string };

/** Of an order: what becomes of each try of each of its periods. */
export type OrderFate = (cycleNo: number, tryNo: number) => DebitFate;

export type RefundFate =
  | { readonly kind: 'success' | 'pending' }
  | { readonly kind: 'refused'; readonly reason: string };

/** The institution of the story: each order has its fate, and what it has said once it says again. */
export interface StoryInstitution {
  readonly gateway: Gateway;
  /** By the channel's own number of the order. */
  readonly fates: Map<string, OrderFate>;
  /** Of the refund that is asked for next. */
  nextRefund: RefundFate;
  /** Of the code that is typed next. */
  nextBinding: 'bound' | 'refused';
}

/** The code that a user gets by text message. */
export const SMS_CODE = '246810';

export function createStoryInstitution(clock: Clock, random: Random): StoryInstitution {
  const decided = new Map<string, DebitFate & { readonly since: number }>();
  const refunds = new Map<string, { readonly fate: RefundFate; readonly amountCent: number }>();

  function answerDebit({ attemptNo, amountCent, startedAt, cycleNo, externalOrderNo }: DebitQuery): DebitOutcome {
    const tryNo = Number(attemptNo.slice(-2));
    const fate = decided.get(attemptNo) ?? {
      ...(story.fates.get(externalOrderNo)?.(cycleNo, tryNo) ?? ({ kind: 'paid' } as const)),
      since: startedAt,
    };
    decided.set(attemptNo, fate);
    if (fate.kind === 'declined') return { kind: 'declined', decline: fate.decline, reason: fate.reason };
    const paidAt = fate.since + (fate.kind === 'paid-later' ? fate.seconds * 1000 : 0);
    if (paidAt > clock.now()) return { kind: 'pending', askAt: paidAt };
    return {
      kind: 'success',
      paidAt,
      amountCent,
      institutionRef: `${formatTime(paidAt).replace(/\D/g, '')}${attemptNo}`,
    };
  }

  const answerRefund = (fate: RefundFate, amountCent: number): RefundOutcome => {
    if (fate.kind === 'success') return { kind: 'success', refundedAt: clock.now(), amountCent };
    return fate.kind === 'refused' ? fate : { kind: 'pending' };
  };

  const story: StoryInstitution = {
    fates: new Map(),
    nextRefund: { kind: 'success' },
    nextBinding: 'bound',
    gateway: {
      sendBindCode: async ({ bindOrderNo }) => ({ kind: 'sent', reference: `sms-${bindOrderNo}` }),
      async confirmBind({ bindOrderNo }): Promise<BindOutcome> {
        if (story.nextBinding === 'bound') return { kind: 'bound', institutionNo: `story-${bindOrderNo}` };
        return { kind: 'refused', reason: '持卡人信息与银行预留不一致' };
      },
      debit: async (request) => answerDebit(request),
      queryDebit: async (request) => answerDebit(request),
      async refund({ refundNo, amountCent }) {
        refunds.set(refundNo, { fate: story.nextRefund, amountCent });
        return answerRefund(story.nextRefund, amountCent);
      },
      async queryRefund({ refundNo }) {
        const known = refunds.get(refundNo);
        return known === undefined ? { kind: 'not-found' } : answerRefund(known.fate, known.amountCent);
      },
      async cancelAgreement() {
        return random.chance(0.04) ? { kind: 'refused', reason: '协议已由用户在银行解除' } : { kind: 'canceled' };
      },
      verifyNotice() {
        throw new NoticeRefused('untrusted', 'nobody sends notices in a story');
      },
      async *statement() {},
    },
  };
  return story;
}
