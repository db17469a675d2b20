import { MAX_MESSAGE_BYTES, MAX_NUMBER_LENGTH, MAX_TEXT_LENGTH } from '@perennial/wire/bridge';
import type { Asking } from '../exchange/caller.js';
import { NotTried } from '../findings.js';
import type { Check, Trial } from './trial.js';

const FIELDS_OF_TOMORROW = { fieldOfTomorrow: { deep: [1, null, 'text'] }, another: true };
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
/** Small amounts only, in case a bridge wrongly accepts and debits one of them. */
const WRONG_AMOUNTS = [0, -1, 0.5, 1.5, '1', null];
const NO_OBJECTS = ['<html>no JSON</html>', '["a list"]', '', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])];

/** Composes a query about a number that was never sent, so it moves no money. */
export function askUnknown({ outcomes, findings }: Check): Asking & { readonly body: object } {
  if (findings.isBroken('debit-query-unknown')) throw new NotTried('a query about an unknown number is not answered');
  return outcomes.queryOf(outcomes.unsent());
}

/** Pads the body with trailing spaces, which JSON ignores. */
function fillUp({ given: { currency } }: Check, body: object, bytes: number): Buffer {
  const text = JSON.stringify({ currency, ...body });
  return Buffer.from(text + ' '.repeat(bytes - Buffer.byteLength(text)));
}

export const MESSAGE_TRIALS: readonly Trial[] = [
  {
    rules: ['request-unknown-fields'],
    run: async ({ outcomes, findings }) => {
      const attempt = outcomes.newAttempt();
      const asking = outcomes.debitOf(attempt, FIELDS_OF_TOMORROW);
      const { word } = await outcomes.debit(attempt, { ...asking, blame: 'request-unknown-fields' });
      findings.judge('request-unknown-fields', word !== 'NOT_FOUND', word);
    },
  },
  {
    rules: ['request-not-json'],
    run: async ({ caller, book }) => {
      for (const body of NO_OBJECTS) {
        const asking = { operation: 'debit', body: Buffer.from(body), idempotencyKey: book.nextNumber('D') } as const;
        await caller.expectRefusal(asking, 400, 'request-not-json', 'a debit whose body is not a JSON object');
      }
    },
  },
  {
    rules: ['request-in-pieces'],
    run: async (check) => {
      await check.caller.ask({ ...askUnknown(check), manner: 'in-pieces', blame: 'request-in-pieces' });
      check.findings.judge('request-in-pieces', true, '');
    },
  },
  {
    rules: ['request-cut-off'],
    run: async ({ caller, outcomes, findings }) => {
      const attempt = outcomes.newAttempt({ never: 'request-cut-off' });
      await caller.send('debit', caller.compose(outcomes.debitOf(attempt)), 'cut-off');
      findings.judge('request-cut-off', true, '');
    },
  },
  {
    rules: ['request-largest'],
    run: async (check) => {
      const asking = askUnknown(check);
      const message = check.caller.compose({ ...asking, body: fillUp(check, asking.body, MAX_MESSAGE_BYTES) });
      const arrival = await check.caller.send('debit-query', message);
      check.caller.read({ ...asking, blame: 'request-largest' }, message, arrival);
      check.findings.judge('request-largest', true, '');
    },
  },
  {
    rules: ['request-too-large'],
    run: async (check) => {
      const { caller, outcomes, findings } = check;
      const attempt = outcomes.newAttempt({ never: 'request-too-large' });
      const asking = outcomes.debitOf(attempt);
      const message = caller.compose({ ...asking, body: fillUp(check, asking.body, MAX_MESSAGE_BYTES + 1) });
      // The bridge may hang up while it receives the body.
      const arrival = await caller.send('debit', message);
      const isTaken = arrival.kind === 'answer' && arrival.status === 200;
      findings.judge('request-too-large', !isTaken, 'a debit of 65,537 bytes was answered with HTTP 200');
    },
  },
  {
    rules: ['request-amounts'],
    run: async ({ caller, outcomes }) => {
      for (const amountCent of WRONG_AMOUNTS) {
        const attempt = outcomes.newAttempt({ never: 'request-amounts' });
        const what = `a debit with amountCent ${JSON.stringify(amountCent)}`;
        await caller.expectRefusal(outcomes.debitOf(attempt, { amountCent }), 400, 'request-amounts', what);
      }
    },
  },
  {
    rules: ['request-longest'],
    run: async ({ outcomes, book, findings }) => {
      const attemptNo = `${book.nextNumber('D')}${PUNCTUATION}`
        .padEnd(MAX_NUMBER_LENGTH, '0')
        .slice(0, MAX_NUMBER_LENGTH);
      const attempt = outcomes.newAttempt({ attemptNo });
      const asking = outcomes.debitOf(attempt, { externalOrderNo: '单'.repeat(MAX_TEXT_LENGTH) });
      await outcomes.debit(attempt, { ...asking, blame: 'request-longest' });
      findings.judge('request-longest', true, '');
    },
  },
  {
    rules: ['idempotency-key'],
    run: async ({ caller, outcomes, book, given }) => {
      const rule = 'idempotency-key';
      const attempt = outcomes.newAttempt({ never: rule, institutionNo: given.agreement ?? 'nobody' });
      const debit = { ...outcomes.debitOf(attempt), idempotencyKey: book.nextNumber('D') };
      await caller.expectRefusal(debit, 400, rule, 'a debit with another Idempotency-Key');
      const refund = outcomes.refundOf({ refundNo: book.nextNumber('R'), attempt, askedCent: 1 });
      const asking = { ...refund, idempotencyKey: book.nextNumber('R') };
      await caller.expectRefusal(asking, 400, rule, 'a refund with another Idempotency-Key');
    },
  },
  {
    rules: ['without-app-id'],
    run: async (check) => {
      const { appId: _, ...body } = askUnknown(check).body as { readonly appId?: string };
      await check.caller.ask({ operation: 'debit-query', body, blame: 'without-app-id' });
      check.findings.judge('without-app-id', true, '');
    },
  },
];
