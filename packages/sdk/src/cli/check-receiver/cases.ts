import { HEADERS, MAX_STRING_LENGTH, randomBytes, TIMESTAMP_SKEW_MS, toBase64 } from '@perennial/wire';
import type { Push } from '../pushes/send-push.js';
import type { createPushMaker, TestEvents } from './test-push.js';

/** One requirement on a receiver. */
export interface Case {
  readonly name: string;
  /** A description of the pushes. */
  readonly sent: string;
  /** `must`: required by the webhook guide. `should`: recommended. */
  readonly duty: 'must' | 'should';
  /** The expected result of every push. */
  readonly expected: 'accepted' | 'refused';
  /** The correction if the requirement is not met. */
  readonly advice: string;
  /** What success does not prove, and how to verify it. */
  readonly proof?: string;
  readonly eventId?: string;
  /** Pushes of one group are sent concurrently, groups one after the other. */
  readonly pushes: readonly (readonly Push[])[];
}

export interface CaseDeps {
  readonly make: ReturnType<typeof createPushMaker>;
  readonly events: TestEvents;
  readonly now: () => number;
  /** In base64: a future secret that the receiver already knows. */
  readonly newCallbackSecret: string | undefined;
}

const AT_ONCE = 20;
const ORDER = 'order.status.changed';
const PAYMENT = 'payment.status.changed';
const UPCOMING = 'payment.upcoming';

const LARGE_BYTES = 16_384;

const exchangeCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));

/** Appends spaces, which JSON ignores. */
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
  const checkFirst = 'check the signature before anything else, and answer something else than HTTP 200 with code "0"';

  return [
    accepted(
      'good',
      'an event of a period and one of an order',
      'answer HTTP 200 with {"code":"0"}, the code as a text; sign over the raw bytes, the path and the three headers',
      sequence(make(good), make(event(ORDER, order()))),
    ),
    {
      ...accepted(
        'repeated',
        'the same event three times more: signed anew with the same retryNo, then with the next ones',
        'keep the ids of events for 30 days; acknowledge what you know already, and do nothing for it',
        sequence(make(again(0)), make(again(1)), make(again(2))),
      ),
      proof: `its answers cannot show whether it was dealt with once only: ${good.eventId} has come four times, so look whether what you do for an event was done once`,
      eventId: good.eventId,
    },
    accepted(
      'reordered',
      'what happened later before what happened earlier',
      'acknowledge events in whatever order they come: occurredAt and orders/query tell how things are',
      sequence(
        make(event(ORDER, order({ orderStatus: 'COMPLETED', nextPayTime: null }))),
        make(event(PAYMENT, payment({ cycleNo: 2, paymentOrderNo: `${order().orderNo}0002` }))),
        make(event(ORDER, order())),
      ),
    ),
    refused(
      'tampered body',
      'a body of which one digit was changed after it was signed',
      `${checkFirst}; the digest is over the bytes that came`,
      make({ ...tampered, sentBody: tampered.body.replace('1990', '1991') }),
    ),
    refused(
      'wrong signature',
      'a signature of the right form that is none',
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
      `${checkFirst}; no value is no signature`,
      make({ ...other(), signature: () => '' }),
    ),
    refused(
      'shortened signature',
      'the right signature cut off: to its first character, its first half, all but its last bytes',
      'compare whole signatures, in constant time: first that both have the same length, then every byte',
      ...[1, 22, 40].map((length) => make({ ...other(), signature: (right) => right.slice(0, length) })),
    ),
    refused(
      'signature in other case',
      'the right signature with upper and lower case letters exchanged',
      'compare signatures as they are: in base64, upper and lower case are different bytes',
      make({ ...other(), signature: exchangeCase }),
    ),
    refused(
      'unknown secret',
      'signed under a secret that is not yours',
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
      'a header X-SVC-Event-Id that was changed after it was signed',
      `${checkFirst}; the last line is the event id`,
      make({ ...other(), headers: { [HEADERS.eventId]: events.nextId() } }),
    ),
    accepted(
      'not ASCII',
      'a body with Chinese text and an emoji',
      'take the bytes as they came: do not turn them into text and back in another encoding',
      sequence(
        make(event(PAYMENT, events.isKnown ? { ...payment(), note: notAscii } : payment({ channelUserId: notAscii }))),
      ),
    ),
    accepted(
      'other spacing and order',
      'a body with its fields in another order and with line breaks',
      'sign over the raw bytes: a body that was parsed and written again has others',
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
        ? 'an event of 16 KB, filled up with spaces'
        : `an event with names of ${MAX_STRING_LENGTH} characters, the longest there are`,
      'take bodies of 16 KB at least',
      sequence(make(events.isKnown ? { ...long, body: fillUp(long.body) } : long)),
    ),
    accepted(
      'several at once',
      `${AT_ONCE} events at the same time`,
      'write an event down, answer, and work on it afterwards',
      [Array.from({ length: AT_ONCE }, () => make(event(PAYMENT, payment())))],
    ),
    accepted(
      'notice before a debit',
      'an event of a period that is to come',
      'acknowledge payment.upcoming also if you do nothing for it: it comes as soon as an operator switches it on for you',
      sequence(make(event(UPCOMING, events.upcoming()))),
    ),
    accepted(
      'unknown event type',
      'an event of a type that is not in the document',
      'acknowledge types that you do not know: later versions may have more',
      sequence(make(event('refund.status.changed', { orderNo: order().orderNo }))),
    ),
    should(
      refused(
        'stale timestamp',
        'an event that was signed an hour ago',
        'refuse what was sent more than 5 minutes ago: each push is signed when it is sent, so only a copy is older',
        make({ ...other(), timestamp: now() - 12 * TIMESTAMP_SKEW_MS }),
      ),
    ),
    should(
      refused(
        'future timestamp',
        'an event that was signed for a time in an hour',
        'refuse what was sent more than 5 minutes ahead of your clock: a copy of it could be sent until then',
        make({ ...other(), timestamp: now() + 12 * TIMESTAMP_SKEW_MS }),
      ),
    ),
    should(
      accepted(
        'unknown field',
        'an event with fields that are not in the document',
        'ignore fields that you do not know: later versions may have more',
        sequence(make(event(ORDER, { ...order(), fieldOfTomorrow: { deep: [1] } }))),
      ),
    ),
    ...(newCallbackSecret === undefined
      ? []
      : [
          should(
            accepted(
              'new secret',
              'an event under the secret that is to come',
              'take both secrets while callbackSecret is being reset, or events are refused until you have changed it',
              sequence(make({ ...other(), callbackSecret: newCallbackSecret }), make(other())),
            ),
          ),
        ]),
    should({
      ...refused(
        'GET',
        'a GET without a body',
        'take POST alone, so that who opens the address does not think that it works',
        { method: 'GET', headers: {}, body: '' },
      ),
    }),
  ];
}
