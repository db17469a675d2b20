import { HEADERS, MAX_STRING_LENGTH, randomBytes, TIMESTAMP_SKEW_MS, toBase64 } from '@perennial/wire';
import type { Push } from '../pushes/send-push.js';
import type { createPushMaker, TestEvents } from './test-push.js';

/** One requirement on a receiver. */
export interface Case {
  readonly name: string;
  /** Describes the pushes in words. */
  readonly sent: string;
  /** `must`: required by the webhook guide. `should`: recommended. */
  readonly duty: 'must' | 'should';
  /** The expected result of every push. */
  readonly expected: 'accepted' | 'refused';
  /** How to correct the receiver if it does not meet the requirement. */
  readonly advice: string;
  /** What a passed case does not prove, and how to check it. */
  readonly proof?: string;
  readonly eventId?: string;
  /** The groups of pushes. The pushes of a group are sent at the same time, and the groups one after the other. */
  readonly pushes: readonly (readonly Push[])[];
}

export interface CaseDeps {
  readonly make: ReturnType<typeof createPushMaker>;
  readonly events: TestEvents;
  readonly now: () => number;
  /** The next callback secret, in base64, which the receiver already accepts beside the current one. */
  readonly newCallbackSecret: string | undefined;
}

const AT_ONCE = 20;
const ORDER = 'order.status.changed';
const PAYMENT = 'payment.status.changed';
const UPCOMING = 'payment.upcoming';

const LARGE_BYTES = 16_384;

const exchangeCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));

/** Makes the body large by appending spaces, which JSON ignores. */
const fillUp = (body: string): string => body + ' '.repeat(Math.max(0, LARGE_BYTES - Buffer.byteLength(body)));

export function createCases({ make, events, now, newCallbackSecret }: CaseDeps): Case[] {
  const { order, payment, event } = events;
  const good = event(PAYMENT, payment());
  const again = (retryNo: number) => event(PAYMENT, payment(), { eventId: good.eventId, retryNo });
  const other = () => event(ORDER, order());
  const tampered = other();
  const spaced = { eventId: events.nextId() };
  const notAscii = '用户-🎈-ß';
  const largest = '大'.repeat(MAX_STRING_LENGTH);
  const long = event(PAYMENT, payment(events.isKnown ? {} : { externalOrderNo: largest, channelUserId: largest }));
  const sequence = (...pushes: readonly Push[]) => pushes.map((one) => [one]);

  const accepted = (name: string, sent: string, advice: string, pushes: readonly (readonly Push[])[]): Case => ({
    ...{ name, sent, advice, pushes, duty: 'must', expected: 'accepted' },
  });
  const refused = (name: string, sent: string, advice: string, ...pushes: readonly Push[]): Case => ({
    ...{ name, sent, advice, pushes: sequence(...pushes), duty: 'must', expected: 'refused' },
  });
  const should = (one: Case): Case => ({ ...one, duty: 'should' });
  const checkFirst =
    'verify the signature before anything else, and do not answer HTTP 200 with code "0" if it is wrong';

  return [
    accepted(
      'good',
      'a payment event and an order event',
      'answer HTTP 200 with {"code":"0"}, the code as a string; compute the signature over the raw bytes, the path and the three headers',
      sequence(make(good), make(event(ORDER, order()))),
    ),
    {
      ...accepted(
        'repeated',
        'the same event three more times: signed again with the same retryNo, then with the next two',
        'keep event ids for 30 days; acknowledge known events without processing them',
        sequence(make(again(0)), make(again(1)), make(again(2))),
      ),
      proof: `the answers do not prove that the event was processed only once: ${good.eventId} was sent four times, so check that it took effect once, or name --effects`,
      eventId: good.eventId,
    },
    accepted(
      'reordered',
      'a later event before an earlier one',
      'acknowledge events in any order: use occurredAt or orders/query for the current state',
      sequence(
        make(event(ORDER, order({ orderStatus: 'COMPLETED', nextPayTime: null }))),
        make(event(PAYMENT, payment({ cycleNo: 2, paymentOrderNo: `${order().orderNo}0002` }))),
        make(event(ORDER, order())),
      ),
    ),
    refused(
      'tampered body',
      'a body with one digit changed after signing',
      `${checkFirst}; the digest covers the received bytes`,
      make({ ...tampered, sentBody: tampered.body.replace('1990', '1991') }),
    ),
    refused(
      'wrong signature',
      'a well-formed but wrong signature',
      checkFirst,
      make({ ...other(), headers: { [HEADERS.signature]: toBase64(randomBytes(32)) } }),
    ),
    refused(
      'missing signature',
      'no X-SVC-Signature',
      checkFirst,
      make({ ...other(), headers: { [HEADERS.signature]: undefined } }),
    ),
    refused(
      'empty signature',
      'X-SVC-Signature without a value',
      `${checkFirst}; an empty value is not a signature`,
      make({ ...other(), signature: () => '' }),
    ),
    refused(
      'shortened signature',
      'the correct signature truncated: to its first character, to its first half, to all but its last bytes',
      'compare whole signatures in constant time: first the lengths, then every byte',
      ...[1, 22, 40].map((length) => make({ ...other(), signature: (right) => right.slice(0, length) })),
    ),
    refused(
      'signature in other case',
      'the correct signature with upper and lower case swapped',
      'compare signatures case-sensitively: base64 distinguishes upper and lower case',
      make({ ...other(), signature: exchangeCase }),
    ),
    refused(
      'unknown secret',
      'signed with another secret',
      checkFirst,
      make({ ...other(), callbackSecret: toBase64(randomBytes(32)) }),
    ),
    refused(
      'another path',
      'signed for the path of another receiver',
      `${checkFirst}; the second line is your path`,
      make({ ...other(), path: '/somebody-else' }),
    ),
    refused(
      'another event id',
      'a header X-SVC-Event-Id changed after signing',
      `${checkFirst}; the last line is the event id`,
      make({ ...other(), headers: { [HEADERS.eventId]: events.nextId() } }),
    ),
    accepted(
      'not ASCII',
      'a body with Chinese text and an emoji',
      'use the received bytes: do not decode and encode them again',
      sequence(
        make(event(PAYMENT, events.isKnown ? { ...payment(), note: notAscii } : payment({ channelUserId: notAscii }))),
      ),
    ),
    accepted(
      'other spacing and order',
      'a body with its fields in another order and with line breaks',
      'compute the signature over the raw bytes: parsing and serialising changes them',
      sequence(
        make({
          ...spaced,
          body: JSON.stringify(
            { retryNo: 0, data: order(), eventType: ORDER, occurredAt: order().createTime, ...spaced },
            undefined,
            3,
          ),
        }),
      ),
    ),
    accepted(
      'large',
      events.isKnown
        ? 'an event of 16 KB, padded with spaces'
        : `an event with names of ${MAX_STRING_LENGTH} characters, the longest allowed`,
      'accept bodies of at least 16 KB',
      sequence(make(events.isKnown ? { ...long, body: fillUp(long.body) } : long)),
    ),
    accepted(
      'several at once',
      `${AT_ONCE} events at the same time`,
      'store the event, answer, and process it afterwards',
      [Array.from({ length: AT_ONCE }, () => make(event(PAYMENT, payment())))],
    ),
    accepted(
      'notice before a debit',
      'an event about an upcoming period',
      'acknowledge payment.upcoming even if you ignore it: it is sent as soon as an operator enables it for you',
      sequence(make(event(UPCOMING, events.upcoming()))),
    ),
    accepted(
      'unknown event type',
      'an event of an undocumented type',
      'acknowledge unknown types: later versions may add some',
      sequence(make(event('refund.status.changed', { orderNo: order().orderNo }))),
    ),
    should(
      refused(
        'stale timestamp',
        'an event signed an hour ago',
        'refuse events older than 5 minutes: each push is signed when it is sent, so older ones are replays',
        make({ ...other(), timestamp: now() - 12 * TIMESTAMP_SKEW_MS }),
      ),
    ),
    should(
      refused(
        'future timestamp',
        'an event signed for one hour in the future',
        'refuse events more than 5 minutes ahead of your clock: they could be replayed until then',
        make({ ...other(), timestamp: now() + 12 * TIMESTAMP_SKEW_MS }),
      ),
    ),
    should(
      accepted(
        'unknown field',
        'an event with undocumented fields',
        'ignore unknown fields: later versions may add some',
        sequence(make(event(ORDER, { ...order(), fieldOfTomorrow: { deep: [1] } }))),
      ),
    ),
    ...(newCallbackSecret === undefined
      ? []
      : [
          should(
            accepted(
              'new secret',
              'an event signed with the next secret',
              'accept both secrets during a reset of callbackSecret, or you refuse events until you have changed it',
              sequence(make({ ...other(), callbackSecret: newCallbackSecret }), make(other())),
            ),
          ),
        ]),
    should({
      ...refused(
        'GET',
        'a GET without a body',
        'accept only POST, so that opening the URL in a browser does not look like a success',
        { method: 'GET', headers: {}, body: '' },
      ),
    }),
  ];
}
