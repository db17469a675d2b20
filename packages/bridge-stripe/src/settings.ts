import { BadSetting, type Env, readSecretFile } from '@perennial/bridge-kit';
import type { StripeSettings } from './institution.js';

/** Reads the settings specific to Stripe. docs/bridges.md lists them. */
export async function readStripeSettings(env: Env): Promise<StripeSettings> {
  return {
    secretKey: await readSecret(env, 'STRIPE_SECRET_KEY_FILE', 'a key like sk_test_…', /^[sr]k_(test|live)_\w+$/),
    webhookSecret: env['STRIPE_WEBHOOK_SECRET_FILE']
      ? await readSecret(env, 'STRIPE_WEBHOOK_SECRET_FILE', 'a secret like whsec_…', /^whsec_\S+$/)
      : undefined,
    currency: env['STRIPE_CURRENCY'] || undefined,
    realm: env['STRIPE_REALM'] || undefined,
    returnUrl: readReturnUrl(env),
    apiBase: env['STRIPE_API_BASE'] || undefined,
  };
}

function readReturnUrl(env: Env): string | undefined {
  const text = env['STRIPE_RETURN_URL'] || undefined;
  if (text === undefined || (URL.canParse(text) && new URL(text).protocol === 'https:')) return text;
  throw new BadSetting('STRIPE_RETURN_URL must be an https address');
}

const readSecret = (env: Env, name: string, what: string, form: RegExp): Promise<string> =>
  readSecretFile(env, name, (text) => {
    if (form.test(text)) return text;
    throw new Error(`the file must contain ${what}`);
  });
