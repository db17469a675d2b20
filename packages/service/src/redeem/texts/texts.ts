import type { OrderStatus, PaymentStatus, SettlementMode } from '@perennial/wire';
import type { Html } from '../html.js';

/** All texts of the page. Amounts are passed as text, times as Html that keeps them whole, names as Html that isolates them. */
export interface Texts {
  readonly lang: string;
  /** The column of descriptions. */
  readonly language: 'zh' | 'en';
  /** Stands between two sentences. */
  readonly gap: string;
  /** Year, month and day. */
  readonly date: (at: number) => Html;
  /** The same, and the time of day. */
  readonly dateTime: (at: number) => Html;
  readonly dates: (from: number, to: number) => Html;
  readonly yourBenefits: string;
  readonly status: Readonly<Record<OrderStatus, string>>;
  readonly period: (cycleNo: number, totalCycles: number) => string;
  readonly periodShort: (cycleNo: number) => string;
  readonly timeZone: string;

  readonly backTo: (seller: Html) => Html;
  readonly soldBy: (seller: Html) => Html;
  readonly support: Readonly<Record<'phone' | 'mail' | 'web', string>>;
  readonly terms: string;

  readonly toClaim: string;
  readonly worth: (amount: string) => string;
  readonly claimBy: (time: Html) => Html;
  /** Whole days; 0 for less than one. */
  readonly daysLeft: (days: number) => string;
  readonly claim: string;
  readonly claimAll: (count: number) => string;
  readonly allToClaim: (count: number) => string;
  readonly openAgain: (seller: Html) => Html;
  readonly nothingToClaim: string | Html;
  readonly openUntil: (time: Html) => Html;

  readonly yourCodes: string;
  readonly allCodes: (count: number) => string;
  readonly claimedOn: (time: Html) => Html;
  readonly copy: string;
  readonly copied: string;
  readonly qr: string;
  readonly useAt: (host: Html) => Html;
  readonly pending: string;
  readonly pendingDetail: string;
  readonly checkAgain: string;

  readonly noLonger: string;
  readonly pastCount: (count: number) => string;
  readonly expiredOn: (time: Html) => Html;
  readonly revoked: string;
  readonly nothingPast: string;
  readonly noCodes: string;
  readonly subscriptionEnded: string;

  /** The titles of what was just done. */
  readonly doneOne: string;
  readonly donePending: string;
  readonly doneAll: (count: number) => string | Html;
  readonly doneSome: (claimed: number, count: number) => string;
  readonly doneNone: string;
  readonly notClaimedYet: string;

  readonly showMore: string;
  readonly fromStart: string;
  readonly back: string;

  readonly subscription: string;
  readonly amount: string;
  readonly everyPeriod: (amount: string, period: string) => string;
  readonly cadence: Readonly<Record<'DAY' | 'MONTH', (period: number) => string>>;
  readonly endedOn: string;
  readonly orderNumber: string;
  readonly channelOrderNumber: string;
  readonly mode: Readonly<Record<SettlementMode, ModeTexts>>;
  readonly refunded: (amount: string, date: Html) => Html;
  readonly earlierRefunds: (count: number) => string;

  readonly keepTitle: string;
  /** Whether it is the last link that there is. */
  readonly keepText: (time: Html, isLast: boolean) => Html;
  readonly keepOpen: string;
  readonly keepHow: string | Html;
  readonly kept: (time: Html) => Html;
  readonly copyLink: string;
  readonly share: string;

  readonly end: string;
  readonly endTitle: (product: Html) => Html;
  readonly endTitlePlain: string;
  readonly endKeepsUnclaimed: (count: number, until: Html) => Html;
  /** `until`: the end of the present link, if there will be no longer one. */
  readonly endKeepsCodes: (until: Html | undefined) => Html;
  /** The link that the user gets by ending lasts until `until`, the present one until `present`. */
  readonly endLink: (until: Html, present: Html) => Html;
  readonly endForGood: string | Html;
  readonly digits: string;
  readonly digitsHint: (seller: Html) => Html;
  readonly endConfirm: string;
  readonly keep: string;
  readonly digitsForm: string;
  readonly digitsWrong: (left: number) => string;
  readonly lockedTitle: string;
  readonly locked: (minutes: number, seller: Html) => Html;
  readonly cannotEnd: Readonly<Record<Exclude<OrderStatus, 'ACTIVE'>, string>>;
  readonly noMobile: (seller: Html) => Html;

  readonly endedTitle: string;
  readonly endedText: (product: Html, date: Html) => Html;
  readonly endedLeft: (count: number, until: Html) => Html;
  readonly endedNothingLeft: (until: Html) => Html;
  readonly endedQuote: string;
  readonly endedToBenefits: (toClaim: number) => string;

  readonly claimExpired: string;
  readonly claimRevoked: string;
  readonly claimUnknown: string;

  readonly refused: PageMessage;
  readonly expired: { readonly title: string; readonly text: (seller: Html) => Html };
  readonly crossSite: PageMessage;
  readonly tooOften: (seconds: number) => PageMessage;
  readonly away: PageMessage;
  readonly fault: (requestId: string) => PageMessage;
  readonly tryAgain: string;
}

/** What depends on who takes the money: the service, or in mode B the seller. */
export interface ModeTexts {
  readonly history: string;
  /** Undefined where there is nothing to add. */
  readonly historyNote: ((seller: Html) => Html) | undefined;
  readonly allHistory: (count: number) => string;
  readonly next: string;
  readonly nextTry: string;
  readonly noNext: string;
  readonly nextWith: (date: Html) => Html;
  readonly endBefore: (date: Html) => Html;
  readonly outcome: Readonly<Record<PaymentStatus, string>>;
  /** About a period that failed: what comes of it. */
  readonly triedAgain: (date: Html) => Html;
  readonly noBenefits: string;
  readonly nextPeriod: (date: Html) => Html;
  readonly neverBegan: string;
  readonly notTaken: string;
  /** A notice above everything, about the period that was started last. */
  readonly failedNotice: (cycleNo: number) => string;
  readonly triedAgainNotice: (cycleNo: number, date: Html) => Html;
  /** What ending means for what would come next. `next` is undefined when nothing would. */
  readonly endNoMore: (next: { readonly amount: string; readonly date: Html } | undefined, seller: Html) => Html;
  readonly endedNoMore: (seller: Html) => Html;
}

export interface PageMessage {
  readonly title: string;
  readonly text: string;
}
