import type { PushAnswer } from '../pushes/send-push.js';

const SIGNATURE =
  'it takes the signature for wrong: has it the callbackSecret of this channel, decoded from base64, and does it sign the path and the raw bytes?';

const STATUSES: Readonly<Record<number, string>> = {
  401: SIGNATURE,
  403: `${SIGNATURE} Or else something before it wants a login or a token: events come without one`,
  404: 'there is nothing under this path, or it knows nothing of this order: correct the path, or name an order that it knows with --order',
  405: 'it takes no POST there: correct the path, or the method',
  413: 'it takes no body of this size: let it take 16 KB',
  415: 'it does not take application/json: let it take that',
};

/** Explains why a receiver refuses a valid event, and what to check first. */
export function explainGood(answer: PushAnswer, { pathname }: URL): string {
  if (answer.kind === 'accepted') return '';
  if (answer.kind === 'late')
    return 'the receiver is too slow: write the event down, answer, and work on it afterwards';
  if (answer.kind !== 'refused') return `${answer.why}: is the receiver running, and is the address right?`;
  if (answer.status >= 300 && answer.status < 400)
    return 'it redirects, and the service does not follow: name the address that answers';
  if (answer.status >= 500) return 'it, or a proxy before it, has failed: its log should say why';
  if (answer.status !== 200) return STATUSES[answer.status] ?? `it refuses: is ${pathname} the receiver of events?`;
  if (answer.code === undefined) return `${answer.why}: answer {"code":"0"}, with "0" as a text`;
  return `the receiver says ${answer.why}, which is no: if it refuses orders that it does not know, name one that it knows with --order`;
}
