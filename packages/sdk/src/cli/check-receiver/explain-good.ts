import type { PushAnswer } from '../pushes/send-push.js';

const SIGNATURE =
  'it rejects the signature: does it use the callbackSecret of this channel, decoded from base64, over the path and the raw bytes?';

const STATUSES: Readonly<Record<number, string>> = {
  401: SIGNATURE,
  403: `${SIGNATURE} Or a proxy in front of it requires a login or a token, which events do not have`,
  404: 'the path does not exist, or the receiver does not know the order: correct the path, or name a known order with --order',
  405: 'it does not accept POST on this path: correct the path or the method',
  413: 'it refuses a body of this size: accept at least 16 KB',
  415: 'it refuses application/json: accept this content type',
};

/** Explains why a receiver refuses a valid event, and what to check first. */
export function explainGood(answer: PushAnswer, { pathname }: URL): string {
  if (answer.kind === 'accepted') return '';
  if (answer.kind === 'late') return 'the receiver is too slow: store the event, answer, and process it afterwards';
  if (answer.kind !== 'refused') return `${answer.why}: is the receiver running, and is the address right?`;
  if (answer.status >= 300 && answer.status < 400)
    return 'it redirects, and the service does not follow redirects: name the final URL';
  if (answer.status >= 500) return 'it failed, or a proxy in front of it did: see its log';
  if (answer.status !== 200)
    return STATUSES[answer.status] ?? `it refuses the event: is ${pathname} the path of the receiver?`;
  if (answer.code === undefined) return `${answer.why}: answer {"code":"0"}, with "0" as a string`;
  return `the receiver answered ${answer.why}, a refusal: if it refuses unknown orders, name a known one with --order`;
}
