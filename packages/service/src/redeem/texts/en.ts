import { keepOnOneLine, type Texts } from './texts.js';

const ZONE = 'Asia/Shanghai';
const date = new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, day: 'numeric', month: 'short', year: 'numeric' });
const times = (count: number, one: string, many: string) => (count === 1 ? one : many.replace('#', String(count)));

export const en: Texts = {
  lang: 'en',
  gap: ' ',
  date: keepOnOneLine(date),
  dateTime: keepOnOneLine(
    new Intl.DateTimeFormat('en-GB', {
      timeZone: ZONE,
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
    }),
  ),
  dates: (from, to) => date.formatRange(from, to),
  yourBenefits: 'Your benefits',
  status: {
    INITIALIZING: 'First payment under way',
    ACTIVE: 'Active',
    UNSUBSCRIBED: 'Ended',
    COMPLETED: 'Completed',
    TERMINATED: 'First payment failed',
  },
  period: (cycleNo, totalCycles) => `Period ${cycleNo} of ${totalCycles}`,
  periodShort: (cycleNo) => `Period ${cycleNo}`,
  timeZone: 'Times are Beijing time (UTC+8).',

  toClaim: 'Ready to claim',
  worth: (amount) => `Worth ${amount}`,
  claimBy: (time) => `Until ${time}`,
  claim: 'Claim',
  nothingToClaim: 'There is nothing left to claim at the moment.',
  nextWith: (date) => `The next benefits come with the payment on ${date}.`,
  olderToClaim: (count) => `${count} older ${count === '1' ? 'benefit' : 'benefits'} to claim`,
  newerToClaim: (count) => `${count} newer ${count === '1' ? 'benefit' : 'benefits'} to claim`,
  openUntil: (time) => `This page can be opened until ${time}. Please note your codes.`,
  endedOpenUntil: (time) =>
    `This page can be opened until ${time}. Please claim what is left before then, and note your codes.`,

  yourCodes: 'Your codes',
  claimedOn: (time) => `Claimed ${time}`,
  copy: 'Copy',
  copied: 'Copied',
  qr: 'QR code',
  pending: 'Your code is on its way',
  pendingDetail: 'The claim is yours and nothing is lost. The code will be on this page as soon as it arrives.',
  checkAgain: 'Check again',

  noLonger: 'No longer available',
  expiredOn: (time) => `Expired ${time}`,
  revoked: 'Taken back with a refund',

  earlier: 'Earlier periods',
  newest: 'Back to the newest',

  subscription: 'Subscription',
  nextPayment: 'Next payment',
  nextTry: 'Next try',
  paymentFailed: (cycleNo) => `The payment for period ${cycleNo} failed, so this period has no benefits.`,
  paymentTriedAgain: (cycleNo, date) =>
    `The payment for period ${cycleNo} failed. The next try is on ${date}, and its benefits come once it succeeds.`,
  noNextPayment: 'None',
  amount: 'Price',
  everyPeriod: (amount, period) => `${amount} ${period}`,
  cadence: {
    DAY: (period) => times(period, 'a day', 'every # days'),
    MONTH: (period) => times(period, 'a month', 'every # months'),
  },
  endedOn: 'Ended on',
  orderNumber: 'Order number',
  channelOrderNumber: 'Provider order number',

  end: 'End subscription',
  endTitle: 'End this subscription?',
  endWhatStays: (until) =>
    `What you have paid for stays yours. Please claim it and note your codes before ${until}, while this page can be opened.`,
  endNoMore: (amount, date) => `The next payment of ${amount} on ${date} will not be taken, nor any after it.`,
  endNoMorePayments: 'No further payment will be taken.',
  endNoMorePeriods: 'Your provider, who takes the payments, is told at once. No further period begins.',
  endForGood: 'It cannot be resumed afterwards. You would need to subscribe again.',
  digits: 'Last four digits of your mobile number',
  digitsHint: 'The number that you log in with at your provider. It shows us that it is you.',
  endConfirm: 'End subscription now',
  keep: 'Keep it',
  digitsForm: 'Please type exactly four digits.',
  digitsWrong: (left) => `These are not the last four digits. ${times(left, 'One try is left.', '# tries are left.')}`,
  lockedTitle: 'Locked for now',
  locked: (minutes) =>
    `Too many wrong tries. For your safety this is locked; please try again ${times(minutes, 'in a minute', 'in # minutes')}.`,
  cannotEnd: {
    INITIALIZING: 'The first payment is still under way. Please come back when it is through.',
    UNSUBSCRIBED: 'This subscription has already ended. No further period begins.',
    COMPLETED: 'All periods of this subscription are complete. There is nothing left to end.',
    TERMINATED: 'The first payment failed, so this subscription never began. Nothing will be taken.',
  },
  noMobile:
    'It cannot be ended on this page, as we have no mobile number of yours. Please ask the provider that you subscribed with.',
  back: 'Back to your benefits',

  claimExpired: 'This benefit expired before it was claimed, so it can no longer be handed out.',
  claimRevoked: 'This benefit was taken back with a refund, so it can no longer be claimed.',
  claimUnknown: 'This benefit is not part of your subscription.',

  refused: {
    title: 'This link does not work',
    text: 'It may be incomplete or too old. Please go back to the app or website where you subscribed and open your benefits from there. If you find no link there any more, please ask them for help.',
  },
  crossSite: {
    title: 'That did not come from this page',
    text: 'Nothing was changed. Please open your benefits again from the app or website where you subscribed, and try there.',
  },
  tooOften: (seconds) => ({
    title: 'One moment, please',
    text: `There were too many requests. Nothing is lost: please try again in ${times(seconds, 'a second', '# seconds')}.`,
  }),
  away: {
    title: 'Back in a moment',
    text: 'The service cannot be reached just now. Nothing is lost: please try again in a minute.',
  },
  fault: (requestId) => ({
    title: 'Something went wrong on our side',
    text: `Nothing is lost: please try again in a minute. If it goes on, tell your provider this number: ${requestId}`,
  }),
};
