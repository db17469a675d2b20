import type { OrderStatus } from '@perennial/wire';

/** All texts of the page. Times and amounts are passed as text in the same language. */
export interface Texts {
  readonly lang: string;
  /** Stands between two sentences. */
  readonly gap: string;
  readonly date: TimeFormat;
  readonly dateTime: TimeFormat;
  readonly dates: (from: number, to: number) => string;
  readonly yourBenefits: string;
  readonly status: Readonly<Record<OrderStatus, string>>;
  readonly period: (cycleNo: number, totalCycles: number) => string;
  readonly periodShort: (cycleNo: number) => string;
  readonly timeZone: string;

  readonly toClaim: string;
  readonly worth: (amount: string) => string;
  readonly claimBy: (time: string) => string;
  readonly claim: string;
  readonly nothingToClaim: string;
  readonly nextWith: (date: string) => string;
  readonly olderToClaim: (count: string) => string;
  readonly newerToClaim: (count: string) => string;
  readonly openUntil: (time: string) => string;
  readonly endedOpenUntil: (time: string) => string;

  readonly yourCodes: string;
  readonly claimedOn: (time: string) => string;
  readonly copy: string;
  readonly copied: string;
  readonly qr: string;
  readonly pending: string;
  readonly pendingDetail: string;
  readonly checkAgain: string;

  readonly noLonger: string;
  readonly expiredOn: (time: string) => string;
  readonly revoked: string;

  readonly earlier: string;
  readonly newest: string;

  readonly subscription: string;
  readonly nextPayment: string;
  readonly nextTry: string;
  readonly paymentFailed: (cycleNo: number) => string;
  readonly paymentTriedAgain: (cycleNo: number, date: string) => string;
  readonly noNextPayment: string;
  readonly amount: string;
  readonly everyPeriod: (amount: string, period: string) => string;
  readonly cadence: Readonly<Record<'DAY' | 'MONTH', (period: number) => string>>;
  readonly endedOn: string;
  readonly orderNumber: string;
  readonly channelOrderNumber: string;

  readonly end: string;
  readonly endTitle: string;
  readonly endWhatStays: (until: string) => string;
  readonly endNoMore: (amount: string, date: string) => string;
  readonly endNoMorePayments: string;
  /** In mode B, where the provider takes the payments. */
  readonly endNoMorePeriods: string;
  readonly endForGood: string;
  readonly digits: string;
  readonly digitsHint: string;
  readonly endConfirm: string;
  readonly keep: string;
  readonly digitsForm: string;
  readonly digitsWrong: (left: number) => string;
  readonly lockedTitle: string;
  readonly locked: (minutes: number) => string;
  readonly cannotEnd: Readonly<Record<Exclude<OrderStatus, 'ACTIVE'>, string>>;
  readonly noMobile: string;
  readonly back: string;

  readonly claimExpired: string;
  readonly claimRevoked: string;
  readonly claimUnknown: string;

  readonly refused: PageMessage;
  readonly crossSite: PageMessage;
  readonly tooOften: (seconds: number) => PageMessage;
  readonly away: PageMessage;
  readonly fault: (requestId: string) => PageMessage;
}

export interface PageMessage {
  readonly title: string;
  readonly text: string;
}

export interface TimeFormat {
  readonly format: (at: number) => string;
}

/** Replaces spaces by non-breaking ones. */
export function keepOnOneLine(format: Intl.DateTimeFormat): TimeFormat {
  return { format: (at) => format.format(at).replaceAll(' ', '\u00a0') };
}

/** The interface names no currency: all amounts are in yuan. */
export function formatYuan(cents: number): string {
  const yuan = Math.floor(cents / 100);
  return `¥${yuan.toLocaleString('en')}.${String(cents % 100).padStart(2, '0')}`;
}
