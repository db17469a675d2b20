import { currencyOf, DEFAULT_CURRENCY } from '@perennial/wire/bridge';
import { BridgeGone, NotTried } from '../findings.js';
import { askUnknown } from './messages.js';
import type { Check, Trial } from './trial.js';

/**
 * Returns the currency that the bridge names in its handshake. Returns CNY for a bridge that does not know /handshake.
 */
async function findCurrency(check: Check): Promise<string | undefined> {
  const { caller } = check;
  const asking = { operation: 'handshake', body: {} } as const;
  const message = caller.compose(asking);
  const arrival = await caller.send('handshake', message);
  check.isWithoutHandshake = arrival.kind === 'answer' && [400, 404, 405, 501].includes(arrival.status);
  return check.isWithoutHandshake ? DEFAULT_CURRENCY : currencyOf(caller.read(asking, message, arrival).fields);
}

/** Ends the run if the bridge's currency differs from the given one, because then nothing may be debited. */
export const CURRENCY_TRIAL: Trial = {
  rules: ['currency-same', 'currency-other'],
  run: async (check) => {
    const { caller, findings, given } = check;
    const theirs = await findCurrency(check);
    const seen = `the bridge has ${theirs ?? 'no currency of three letters'}, and --currency is ${given.currency}`;
    if (theirs !== given.currency) {
      findings.judge('currency-same', false, seen);
      throw new BridgeGone('the bridge has another currency');
    }
    if (check.isWithoutHandshake)
      throw new NotTried(`the bridge does not know /handshake, so its currency counts as ${theirs}`);
    findings.judge('currency-same', true, seen);
    const other = given.currency === 'EUR' ? 'USD' : 'EUR';
    const asking = askUnknown(check);
    const body = { ...asking.body, currency: other };
    await caller.expectRefusal({ ...asking, body }, 409, 'currency-other', `a query in ${other}`);
  },
};
