import type { DeclineKind } from '@perennial/wire';
import { type Html, html } from '../html.js';
import { toDateParts } from './dates.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Keeps the date on one line. The time after it is on the next line only on the narrowest screens. */
const date = (at: number) => {
  const { year, month, day } = toDateParts(at);
  return html`<span class="date">${day} ${MONTHS[month]} ${year}</span>`;
};
const dateTime = (at: number) => html`<span class="moment">${date(at)}, ${toDateParts(at).time}</span>`;
const times = (count: number, one: string, many: string) => (count === 1 ? one : many.replace('#', String(count)));

/** Texts that depend on who debits: the service, or the seller in mode B. */
const debited = {
  history: 'Payments',
  historyNote: undefined as ((seller: Html) => Html) | undefined,
  allHistory: (count: number) => `All ${count} payments`,
  next: 'Next payment',
  nextTry: 'Next attempt',
  lastPaid: 'Last payment',
  noNext: 'None',
  nextWith: (on: Html) => html`The next benefits come with the payment on ${on}.`,
  endBefore: (on: Html) => html`End it before ${on} to avoid this payment.`,
  outcome: {
    WAIT: 'Planned',
    PROCESSING: 'In progress',
    SUCCESS: 'Paid',
    FAIL_RETRY: 'Not paid yet',
    FAIL: 'Failed',
    BILLED: 'Billed',
    CANCELED: 'Cancelled',
    REFUND_PART: 'Partly refunded',
    REFUND_FULL: 'Refunded',
  },
  /** Consequences of a period whose payment failed. */
  triedAgain: (on: Html, hasBenefits: boolean) =>
    html`We will try again on ${on}.${hasBenefits ? ' You get the benefits once it succeeds.' : ''}`,
  noBenefits: (hasBenefits: boolean): string =>
    hasBenefits ? 'You were not charged, so this period has no benefits.' : 'You were not charged.',
  nextPeriod: (on: Html) => html`There are no further attempts. The next period begins on ${on}.`,
  neverBegan: 'You were not charged, and the subscription did not begin.',
  notTaken: 'The subscription ended first. You were not charged.',
  /** The heading of the notice about the latest period. */
  failed: (cycleNo: number) => `The payment for period ${cycleNo} failed`,
  /** What unsubscribing means for the next payment. `next` is undefined if no payment is planned. */
  endNoMore: (next: { readonly amount: string; readonly date: Html } | undefined, _seller: Html) =>
    next
      ? html`The next payment of ${next.amount} on ${next.date} will not be taken, nor any after it.`
      : html`No further payment will be taken.`,
  endedNoMore: (_seller: Html) => html`No further payment will be taken.`,
};

export type ModeTexts = typeof debited;

const billed: ModeTexts = {
  ...debited,
  history: 'Billing',
  historyNote: (seller) => html`Billed by ${seller}.`,
  allHistory: (count) => `All ${count} periods`,
  next: 'Next period',
  nextTry: 'Next period',
  lastPaid: 'Last billed',
  nextWith: (on) => html`The next benefits come with the period that begins on ${on}.`,
  endBefore: (on) => html`End it before ${on} and no further period begins.`,
  outcome: { ...debited.outcome, SUCCESS: 'Billed', FAIL_RETRY: 'Not billed yet', FAIL: 'Not billed' },
  triedAgain: (on) => html`The period begins on ${on}.`,
  noBenefits: (hasBenefits) => (hasBenefits ? 'This period has no benefits.' : 'This period is not billed.'),
  nextPeriod: (on) => html`The next period begins on ${on}.`,
  neverBegan: 'The subscription did not begin.',
  notTaken: 'The subscription ended first.',
  failed: (cycleNo) => `Period ${cycleNo} was not billed`,
  endNoMore: (_next, seller) => html`No further period begins. ${seller}, who bills you, will be notified at once.`,
  endedNoMore: (seller) => html`No further period begins. ${seller}, who bills you, has been notified.`,
};

/** All texts of the page. Amounts are passed as text. Formatted times and isolated names are passed as Html. */
export const en = {
  lang: 'en',
  /** The language of names and descriptions. */
  language: 'en' as 'zh' | 'en',
  /** The other language, for the switch. */
  other: { language: 'zh' as 'zh' | 'en', lang: 'zh-CN', name: '中文' },
  /** Separates two sentences. */
  gap: ' ',
  date,
  dateTime,
  dates: (from: number, to: number) =>
    date(from).text === date(to).text ? date(from) : html`${date(from)} – ${date(to)}`,
  yourBenefits: 'Your benefits',
  status: {
    INITIALIZING: 'First payment in progress',
    ACTIVE: 'Active',
    UNSUBSCRIBED: 'Ended',
    COMPLETED: 'Completed',
    TERMINATED: 'First payment failed',
  },
  period: (cycleNo: number, totalCycles: number) => `Period ${cycleNo} of ${totalCycles}`,
  periodShort: (cycleNo: number) => `Period ${cycleNo}`,
  timeZone: 'Times are Beijing time (UTC+8).',

  backTo: (seller: Html) => html`Back<span class="to"> to ${seller}</span>`,
  soldBy: (seller: Html) => html`Your subscription with ${seller}`,
  support: { phone: 'Call', mail: 'Write to', web: 'Help at' },
  terms: 'Terms',

  toClaim: 'Ready to claim',
  worth: (amount: string) => `Worth ${amount}`,
  claimBy: (time: Html) => html`Claim by ${time}`,
  /** `days` counts whole days, and is 0 for less than one day. */
  daysLeft: (days: number) => (days === 0 ? 'Last hours' : times(days, '1 day left', '# days left')),
  claim: 'Claim',
  claimAll: (count: number) => (count === 2 ? 'Claim both' : `Claim all ${count}`),
  /** `atOnce`: the maximum number of benefits that one press claims. */
  claimEverything: (count: number, atOnce: number) =>
    count > atOnce ? `Claim the first ${atOnce} of ${count}` : `Claim everything (${count})`,
  allToClaim: (count: number) => `All ${count} to claim`,
  /** `time`: when the link of this page expires. */
  linkUntil: (time: Html) => html`Your link to this page works until ${time}.`,
  newLinkFrom: (seller: Html) => html`Get a new link from ${seller}`,
  openAgain: (seller: Html) => html`For a new link, open your benefits again from ${seller}.`,
  sendLink: 'Send a new link to my mobile',
  nothingToClaim: 'There is nothing left to claim at the moment.' as string | Html,
  /** After the end of the subscription. */
  nothingLeft: 'There is nothing left to claim.',
  openUntil: (time: Html) => html`This page can be opened until ${time}. Save your codes before then.`,

  yourCodes: 'Your codes',
  allCodes: (count: number) => `All ${count} codes`,
  claimedOn: (time: Html) => html`Claimed ${time}`,
  copy: 'Copy',
  copied: 'Copied',
  qr: 'QR code',
  useAt: (host: Html) => html`Use it at ${host}`,
  pending: 'Your code is on its way',
  pendingDetail: 'Your claim is saved. The code will appear on this page as soon as it arrives.',
  checkAgain: 'Check again',

  noLonger: 'No longer available',
  pastCount: (count: number) => times(count, '1 benefit no longer available', '# benefits no longer available'),
  expiredOn: (time: Html) => html`Expired ${time}`,
  revoked: 'Withdrawn after a refund',
  nothingPast: 'No benefit has expired or was withdrawn.',
  noCodes: 'You have not claimed anything yet.',
  subscriptionEnded: 'The subscription has ended.',

  donePending: 'Claimed',
  doneAll: (count: number): string | Html =>
    count === 2 ? 'Both claimed' : times(count, 'It’s yours', 'All # claimed'),
  doneSome: (claimed: number, count: number) => `${claimed} of ${count} claimed`,
  doneNone: 'Nothing could be claimed',
  doneEverything: 'All claimed' as string | Html,
  doneEverythingBut: (count: number): string | Html =>
    times(
      count,
      '1 benefit is not claimed yet. Please press again.',
      '# benefits are not claimed yet. Please press again.',
    ),
  notClaimedYet: 'Not claimed yet. Please press again.',

  showMore: 'Show more',
  fromStart: 'Back to the start',
  back: 'Back to your benefits',
  /** Instead of `back`, for a product without benefits, and where the product is not known. */
  backToSubscription: 'Back to your subscription',

  subscription: 'Subscription',
  amount: 'Price',
  payWith: 'Paid with',
  card: (name: Html, tail: string) => html`${name} <span class="date">•••• ${tail}</span>`,
  startedOn: 'Started on',
  /** Instead of `startedOn`, for an order that has not begun. */
  orderedOn: 'Ordered on',
  remaining: 'Remaining',
  remainingPeriods: (count: number) =>
    count === 0 ? 'This is the last period' : times(count, '1 period', '# periods'),
  runsUntil: 'Runs until',
  everyPeriod: (amount: string, period: string) => `${amount} ${period}`,
  cadence: {
    DAY: (period: number) => times(period, 'a day', 'every # days'),
    MONTH: (period: number) => times(period, 'a month', 'every # months'),
  },
  endedOn: 'Ended on',
  orderNumber: 'Order number',
  channelOrderNumber: 'Provider order number',
  mode: { SVC_DEDUCT: debited, CHANNEL_COLLECT: billed },
  /** Why a payment failed. */
  declined: {
    INSUFFICIENT_FUNDS: 'There was not enough money on the card.',
    LIMIT_EXCEEDED: 'The payment limit of the card was reached.',
    CARD_EXPIRED: 'The card has expired.',
    CARD_LOST: 'The card was reported lost or stolen.',
    ACCOUNT_CLOSED: 'The account is closed or frozen.',
    AGREEMENT_ENDED: 'The permission to charge the card has ended.',
    WRONG_DETAILS: 'The details of the card are not correct.',
    SUSPECTED_FRAUD: 'The bank stopped the payment for security reasons.',
    NOT_PERMITTED: 'The bank does not allow this payment.',
    INSTITUTION_UNAVAILABLE: 'The bank could not be reached.',
    TECHNICAL: 'There was a technical problem at the bank.',
    OTHER: 'The bank declined the payment.',
  } satisfies Readonly<Record<DeclineKind, string>> as Readonly<Record<DeclineKind, string>>,
  /** The user's next step after a failed payment. */
  advice: {
    money: 'Please make sure by then that the card has enough money or a high enough limit.' as string | Html,
    /** The channel can replace the card, but the page has no link to its shop. */
    ask: (seller: Html) => html`Please contact ${seller} to pay with another card.`,
    /** No one can replace the card of this subscription. */
    resubscribe: (seller: Html) =>
      html`The card of this subscription cannot be changed. To pay with another card, end the subscription and subscribe again at ${seller}.`,
    again: (seller: Html) => html`You can subscribe again at ${seller}.`,
    nothing: 'You do not need to do anything.',
  },
  changeCard: (seller: Html) => html`Change the card at ${seller}`,
  refunded: (amount: string, on: Html) => html`${amount} refunded on ${on}`,
  earlierRefunds: (count: number) => times(count, 'and 1 earlier refund', 'and # earlier refunds'),

  receipt: {
    title: 'Receipt',
    seller: 'Seller',
    product: 'Product',
    amount: 'Amount',
    number: 'Payment order number',
    refund: 'Refund',
    left: 'After refunds',
  },

  keepTitle: 'Keep this page',
  /** `isLast`: the user will get no further link. */
  keepText: (time: Html, isLast: boolean) =>
    isLast
      ? html`You will not get another link, but you can save one that works until ${time}.`
      : html`You can save a link that works until ${time}.`,
  keepOpen: 'Open the link to keep',
  keepHow: 'Then bookmark the page, or send its address to yourself. Anyone who has the link can claim.' as
    | string
    | Html,
  kept: (time: Html) =>
    html`This is the link to keep. It works until ${time}: bookmark this page, or send its address to yourself.`,
  copyLink: 'Copy link',
  share: 'Share',

  end: 'End subscription',
  endTitle: (product: Html) => html`End ${product}\u2060?`,
  endTitlePlain: 'End this subscription?',
  endKeepsUnclaimed: (count: number, until: Html) =>
    html`${times(count, 'The benefit that you have not claimed stays', 'The # benefits that you have not claimed stay')} yours, until ${until}.`,
  /** `until`: the time when the current link expires. Undefined if the user will get a link that works longer. */
  endKeepsCodes: (until: Html | undefined) =>
    until
      ? html`Codes that you have claimed stay yours. Save them before ${until}, while this page can be opened.`
      : html`Codes that you have claimed stay yours.`,
  /** `until`: when the link that the user gets by unsubscribing expires. `present`: when the current link expires. */
  endLink: (until: Html, present: Html) =>
    html`You then get a link that works until ${until}. Please keep it: your current one works until ${present}.`,
  endForGood: 'It cannot be resumed afterwards. You would need to subscribe again.' as string | Html,
  digits: 'Last four digits of your mobile number',
  digitsHint: (seller: Html) => html`The number you use to log in at ${seller}. It confirms that it is you.`,
  endConfirm: 'End subscription now',
  keep: 'Keep it',
  digitsForm: 'Please type exactly four digits.',
  digitsWrong: (left: number) =>
    `These are not the last four digits. ${times(left, 'One attempt is left.', '# attempts are left.')}`,
  code: {
    label: 'Code from the message',
    hint: 'Six digits, sent to the mobile number you log in with. The code works for 10 minutes.' as string | Html,
  },
  codeForm: 'Please type the six digits of the code.',
  codeWrong: (left: number) => `This is not the code. ${times(left, 'One attempt is left.', '# attempts are left.')}`,
  noCode: 'This code no longer works. Please have a new one sent.',
  sendCode: 'Send a code to my mobile',
  sendCodeAgain: 'Send another code',
  lockedTitle: 'Too many wrong attempts',
  locked: (minutes: number): string | Html =>
    `For your safety, please wait before you type the digits again: ${
      minutes < 120 ? times(minutes, '1 minute', '# minutes') : `${Math.ceil(minutes / 60)} hours`
    }.`,
  lockedForGood: 'For your safety, the digits can no longer be typed here.' as string | Html,
  lockedSendCode: 'You can confirm with a code at once. It is sent to the mobile number you log in with.' as
    | string
    | Html,
  lockedAsk: (seller: Html) => html`You can also ask ${seller} to end the subscription.`,
  sentTitle: 'Look at your messages',
  notSentTitle: 'No message was sent',
  /** The result of sending a message. */
  sent: {
    sent: 'A new link is on its way to the mobile number you log in with.',
    'too-often': 'A message was sent a moment ago, or too many were sent today. Please wait, then try again.',
    'not-sent': 'The message could not be sent. Please try again in a minute.',
    'no-mobile': 'We have no mobile number of yours.',
  },
  /** Messages to the user's mobile. Short, because text messages are. */
  messages: {
    code: (seller: string, code: string) =>
      `${seller}: ${code} is your code to end your subscription. It works for 10 minutes. If you did not ask for it, ignore this message.`,
    link: (seller: string, url: string) => `${seller}: your subscription is at ${url}`,
  },
  cannotEnd: {
    INITIALIZING: 'The first payment is still in progress. Please try again once it is complete.',
    UNSUBSCRIBED: 'This subscription has already ended. No further period begins.',
    COMPLETED: 'All periods of this subscription are complete. There is nothing left to end.',
    TERMINATED: 'The first payment failed, so this subscription never began. Nothing will be taken.',
  },
  noMobile: (seller: Html) =>
    html`We have no mobile number of yours, so you cannot end it on this page. Please ask ${seller}.`,

  endedTitle: 'Your subscription has ended',
  endedText: (product: Html, on: Html) => html`${product} ended on ${on}.`,
  endedLeft: (count: number, until: Html) =>
    html`${times(count, 'One benefit is', '# benefits are')} still yours to claim, until ${until}.`,
  endedNothingLeft: (until: Html) =>
    html`Nothing is left to claim. Your codes can be seen until ${until}. Save them before then.`,
  endedQuote: 'If you have a question, quote this number',
  endedToBenefits: (toClaim: number): string => (toClaim > 0 ? 'Claim your benefits' : 'See your codes'),

  claimExpired: 'This benefit expired before it was claimed, so it can no longer be claimed.',
  claimRevoked: 'This benefit was withdrawn after a refund, so it can no longer be claimed.',
  claimUnknown: 'This benefit is not part of your subscription.',

  refused: {
    title: 'This link does not work',
    text: 'It may not have been copied completely, or it may be an old one. You can:',
    steps: [
      'open the link again from the message in which you got it, or copy all of it;',
      'open the page from the app or website where you subscribed;',
      'ask their customer service. Please have your order number at hand.',
    ] as (string | Html)[],
  },
  expired: {
    title: 'This link has expired',
    text: (seller: Html) =>
      html`For your safety, links work for a limited time. Nothing is lost. Please open the page again from ${seller}.`,
  },
  crossSite: {
    title: 'This request did not come from this page',
    text: 'Nothing was changed. Please open the page again from the app or website where you subscribed, and try there.',
  },
  tooOften: (seconds: number) => ({
    title: 'One moment, please',
    text: `There were too many requests. Nothing is lost: please try again in ${times(seconds, 'a second', '# seconds')}.`,
  }),
  away: {
    title: 'Back in a moment',
    text: 'The service cannot be reached just now. Nothing is lost: please try again in a minute.',
  },
  fault: (requestId: string) => ({
    title: 'Something went wrong on our side',
    text: `Nothing is lost: please try again in a minute. If it happens again, quote this number: ${requestId}`,
  }),
  /** Shown by the script, instead of the browser's error page, for a form that is sent without a connection. */
  offline: 'You are offline. Nothing was changed. Please press again when you are connected.',
  tryAgain: 'Try again',
};

export type Texts = typeof en;
export type PageMessage = Texts['crossSite'];
/** The result of sending a link. */
export type SentLink = keyof Texts['sent'];
