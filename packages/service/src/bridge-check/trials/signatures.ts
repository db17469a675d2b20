import { randomBytes } from 'node:crypto';
import { BRIDGE_HEADERS, type Fields, KEY_BYTES, OPERATIONS } from '@perennial/wire/bridge';
import type { Twist } from '../exchange/compose.js';
import { unlessUnusable } from '../outcome-log.js';
import type { RuleName } from '../rules.js';
import { askUnknown } from './messages.js';
import type { Check, Trial } from './trial.js';

const MINUTE_MS = 60_000;
/** Clock differences one minute above and one minute below the allowed 5 minutes. */
const TOO_FAR_MS = 6 * MINUTE_MS;
const NEAR_MS = 4 * MINUTE_MS;

const { timestamp, nonce, requestId } = BRIDGE_HEADERS;

const exchangeCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));

type Twister = (now: number, body: Fields) => Twist;

/** The faulty requests of each rule, each with a description of its fault. */
const WRONG: Readonly<Partial<Record<RuleName, Readonly<Record<string, Twister>>>>> = {
  'signature-wrong': {
    'signed with another key': () => ({ key: randomBytes(KEY_BYTES) }),
    'with a random signature': () => ({ signature: () => randomBytes(32).toString('base64') }),
    'with an empty signature': () => ({ signature: () => '' }),
  },
  'signature-covers': {
    'signed for another path': () => ({ signedPath: '/debit-query' }),
    'with a body that was changed after signing': (_now, body) => ({
      sentBody: Buffer.from(JSON.stringify({ ...body, cycleNo: 2 })),
    }),
    'with a timestamp that was changed after signing': (now) => ({
      signedHeaders: { [timestamp]: String(now - 1000) },
      sentHeaders: { [timestamp]: String(now) },
    }),
    'with a nonce that was changed after signing': () => ({
      sentHeaders: { [nonce]: randomBytes(16).toString('hex') },
    }),
    'with a request id that was changed after signing': () => ({ sentHeaders: { [requestId]: 'another' } }),
  },
  'signature-whole': {
    'with the first character of its signature': () => ({ signature: (right) => right.slice(0, 1) }),
    'with the first half of its signature': () => ({ signature: (right) => right.slice(0, 22) }),
    'with extra characters after its signature': () => ({ signature: (right) => `${right}AAAA` }),
    'with its signature in another case': () => ({ signature: exchangeCase }),
  },
  'signature-headers': {
    'without a timestamp': () => ({ signedHeaders: { [timestamp]: undefined } }),
    'with a timestamp that is no number': () => ({ signedHeaders: { [timestamp]: 'now' } }),
    'without a nonce': () => ({ signedHeaders: { [nonce]: undefined } }),
    'with a nonce that is not 32 hex characters': () => ({ signedHeaders: { [nonce]: 'abc' } }),
    'without a request id': () => ({ signedHeaders: { [requestId]: undefined } }),
    'with a request id of 129 characters': () => ({ signedHeaders: { [requestId]: 'x'.repeat(129) } }),
  },
  'timestamp-old': { 'signed 6 minutes ago': () => ({ offMs: -TOO_FAR_MS }) },
  'timestamp-future': { 'signed for a time in 6 minutes': () => ({ offMs: TOO_FAR_MS }) },
};

/** Used if no agreement is given: the bridge must refuse a faulty request before it reads the agreement. */
const NOBODYS = 'nobody';

/**
 * Sends a debit that the bridge must refuse with 401. It must have no effect, which is checked at the end of the run.
 */
async function expectUnauthorized(
  { caller, outcomes, given }: Check,
  rule: RuleName,
  what: string,
  twister: Twister,
): Promise<void> {
  const attempt = outcomes.newAttempt({ never: rule, institutionNo: given.agreement ?? NOBODYS });
  const asking = outcomes.debitOf(attempt);
  const twist = twister(given.clock.now(), asking.body);
  await caller.expectRefusal({ ...asking, twist }, 401, rule, `a debit ${what}`);
}

const refusals = Object.entries(WRONG).map(([name, cases]): Trial => {
  const rule = name as RuleName;
  return {
    rules: [rule],
    run: async (check) => {
      for (const [what, twister] of Object.entries(cases)) await expectUnauthorized(check, rule, what, twister);
    },
  };
});

export const SIGNATURE_TRIALS: readonly Trial[] = [
  {
    rules: ['signature-missing'],
    run: async (check) => {
      const twist = { signature: () => undefined };
      for (const operation of OPERATIONS) {
        if (operation === 'handshake' && check.isWithoutHandshake) continue;
        const asking = { operation, body: {}, twist };
        await check.caller.expectRefusal(asking, 401, 'signature-missing', `/${operation} without a signature`);
      }
      await expectUnauthorized(check, 'signature-missing', 'without a signature', () => twist);
    },
  },
  ...refusals,
  {
    rules: ['timestamp-within'],
    run: async (check) => {
      for (const offMs of [-NEAR_MS, NEAR_MS]) {
        await check.caller.ask({ ...askUnknown(check), twist: { offMs }, blame: 'timestamp-within' });
        check.findings.judge('timestamp-within', true, '');
      }
    },
  },
  {
    rules: ['replay'],
    run: async ({ caller, outcomes, findings }) => {
      const attempt = outcomes.newAttempt({ once: 'replay' });
      const asking = outcomes.debitOf(attempt);
      const message = caller.compose(asking);
      const first = caller.send('debit', message).then((arrival) => caller.read(asking, message, arrival));
      await unlessUnusable(first.then((said) => outcomes.note(attempt, said)));
      await outcomes.requireDebited(attempt);
      // The bridge may repeat its answer or refuse. Only the state of the debit counts.
      await caller.send('debit', message);
      await outcomes.query(attempt);
      findings.judge('replay', true, '');
    },
  },
];
