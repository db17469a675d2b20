/** Stripe counts these in whole units: docs.stripe.com/currencies#zero-decimal */
const WITHOUT_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' ');

/** docs.stripe.com/currencies#three-decimal */
const WITH_THREE_DECIMALS = 'bhd jod kwd omr tnd'.split(' ');

/** Two decimals that must be 00: docs.stripe.com/currencies#special-cases */
const WITH_EMPTY_DECIMALS = ['isk'];

/** The protocol's cents are hundredths. What 1990 means of a currency that has none would be guessed. */
export function readCurrency(text: string): string {
  const currency = text.trim().toLowerCase();
  if (!/^[a-z]{3}$/.test(currency))
    throw new Error(`STRIPE_CURRENCY: the currency ${JSON.stringify(text)} is not three letters`);
  if (!Intl.supportedValuesOf('currency').includes(currency.toUpperCase()))
    throw new Error(`STRIPE_CURRENCY: there is no currency ${currency}`);
  const why = whyRefused(currency);
  if (why !== undefined)
    throw new Error(`STRIPE_CURRENCY: the currency ${currency} cannot be used: ${why}, and amounts are in hundredths`);
  return currency;
}

function whyRefused(currency: string): string | undefined {
  if (WITHOUT_DECIMALS.includes(currency)) return 'it has no decimals';
  if (WITH_THREE_DECIMALS.includes(currency)) return 'it has three decimals';
  if (WITH_EMPTY_DECIMALS.includes(currency)) return 'it is charged in whole units only';
  return undefined;
}
