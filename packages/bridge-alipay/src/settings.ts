import { BadSetting, type Env, readSecretFile, requireSetting } from '@perennial/bridge-kit';
import type { AlipayOptions } from './institution.js';
import { publicHalfOf, readPrivateKey, readPublicKey } from './keys.js';

const PRODUCTION = 'https://openapi.alipay.com';

/** Reads the settings specific to Alipay. docs/bridges.md lists them. */
export async function readAlipaySettings(env: Env): Promise<AlipayOptions> {
  const appId = requireSetting(env, 'ALIPAY_APP_ID');
  if (!/^\d{16}$/.test(appId)) throw new BadSetting('ALIPAY_APP_ID must have 16 digits');
  const subject = env['ALIPAY_SUBJECT'] || 'Subscription';
  // At most 100 of Alipay's 256 characters (https://opendocs.alipay.com/open/38d751b1_alipay.trade.pay): the rest is
  // reserved for an attempt number in hex.
  if (/[/=&]/.test(subject) || subject.length > 100)
    throw new BadSetting('ALIPAY_SUBJECT must have 100 characters at most, none of / = &');
  const numberPrefix = env['ALIPAY_NUMBER_PREFIX'] ?? '';
  if (!/^\w{0,16}$/.test(numberPrefix))
    throw new BadSetting('ALIPAY_NUMBER_PREFIX must have 16 letters, digits and underscores at most');
  const privateKey = await readSecretFile(env, 'ALIPAY_PRIVATE_KEY_FILE', readPrivateKey);
  const alipayPublicKey = await readSecretFile(env, 'ALIPAY_PUBLIC_KEY_FILE', readPublicKey);
  if (alipayPublicKey === publicHalfOf(privateKey))
    throw new BadSetting('ALIPAY_PUBLIC_KEY_FILE holds the public key of the app: that of Alipay is wanted');
  return {
    appId,
    subject,
    numberPrefix,
    privateKey,
    alipayPublicKey,
    endpoint: readUrl(env, 'ALIPAY_ENDPOINT')?.replace(/\/$/, '') ?? PRODUCTION,
    notifyUrl: readUrl(env, 'ALIPAY_NOTIFY_URL'),
  };
}

/** Reads a URL. Allows plain HTTP only to this machine, because requests are signed but not encrypted. */
function readUrl(env: Env, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (
    !/^https:\/\/[^\s?#]+$/.test(text) &&
    !/^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/[^\s?#]*)?$/.test(text)
  )
    throw new BadSetting(`${name} must be an https address`);
  return text;
}
