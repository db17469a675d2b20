import type { OrderStatus } from '@perennial/wire';

/** Everything that the page says. Times and amounts come as text in the same language. */
export interface Texts {
  readonly lang: string;
  readonly date: Intl.DateTimeFormat;
  readonly dateTime: Intl.DateTimeFormat;
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
  readonly claimNamed: (name: string) => string;
  readonly nothingToClaim: string;
  readonly nextWith: (date: string) => string;
  readonly moreToClaim: (count: string) => string;

  readonly yourCodes: string;
  readonly claimedOn: (time: string) => string;
  readonly copy: string;
  readonly copied: string;
  readonly qr: string;
  readonly qrOf: (name: string) => string;
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
  readonly retryPayment: string;
  readonly noNextPayment: string;
  readonly amount: string;
  readonly everyPeriod: (amount: string, period: string) => string;
  readonly cadence: Readonly<Record<'DAY' | 'MONTH', (period: number) => string>>;
  readonly endedOn: string;
  readonly orderNumber: string;
  readonly channelOrderNumber: string;

  readonly end: string;
  readonly endTitle: string;
  readonly endWhatStays: string;
  readonly endNoMore: (amount: string, date: string) => string;
  readonly endNoMorePayments: string;
  readonly endForGood: string;
  readonly digits: string;
  readonly digitsHint: string;
  readonly endConfirm: string;
  readonly keep: string;
  readonly digitsForm: string;
  readonly digitsWrong: (left: number) => string;
  readonly locked: (minutes: number) => string;
  readonly cannotEnd: Readonly<Record<Exclude<OrderStatus, 'ACTIVE'>, string>>;
  readonly noMobile: string;
  readonly back: string;

  readonly claimExpired: string;
  readonly claimRevoked: string;
  readonly claimUnknown: string;

  readonly refused: Message;
  readonly crossSite: Message;
  readonly tooOften: (seconds: number) => Message;
  readonly away: Message;
  readonly fault: (requestId: string) => Message;
}

export interface Message {
  readonly title: string;
  readonly text: string;
}

/** The interface names no currency; what it settles is in yuan. */
export function money(cents: number): string {
  const yuan = Math.floor(cents / 100);
  return `¥${yuan.toLocaleString('en')}.${String(cents % 100).padStart(2, '0')}`;
}
