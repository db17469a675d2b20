import type { SignedReceiver } from '../signed-post.js';
import { type Env, isHttpsOrHere, readListOf, readText, readUrl, SettingsError } from './values.js';

/** A shorter secret could be found by trying all values against one signed message. */
const MIN_SECRET_LENGTH = 16;

/** Reads the URL and the secret of a receiver of signed messages. */
export function readWebhook(env: Env, name: string): SignedReceiver | undefined {
  const address = readUrl(env, `${name}_URL`, ['http:', 'https:']);
  const secret = readText(env, `${name}_SECRET`);
  if (address === undefined && secret === undefined) return undefined;
  if (address === undefined) throw new SettingsError(`${name}_URL is missing: ${name}_SECRET requires it`);
  if (secret === undefined || secret.length < MIN_SECRET_LENGTH) {
    throw new SettingsError(`${name}_SECRET must have ${MIN_SECRET_LENGTH} characters or more`);
  }
  return { url: address, secret };
}

export function readMessageHook(env: Env): SignedReceiver | undefined {
  const hook = readWebhook(env, 'MESSAGE_HOOK');
  if (hook && !isHttpsOrHere(new URL(hook.url))) {
    throw new SettingsError(
      'MESSAGE_HOOK_URL must start with https://, or be on this machine: messages contain mobile numbers and links',
    );
  }
  return hook;
}

const MAIL_ADDRESS = /^[^\s@<>,"]+@[^\s@<>,"]+$/;

export function readAlertEmail(env: Env) {
  const server = readUrl(env, 'SMTP_URL', ['smtp:', 'smtps:']);
  const to = readListOf(env, 'ALERT_EMAIL', 'mail addresses separated by commas', (one) => MAIL_ADDRESS.test(one));
  if (server === undefined && to.length === 0) return undefined;
  if (server === undefined) throw new SettingsError('SMTP_URL is missing: ALERT_EMAIL requires it');
  const from = new URL(server).searchParams.get('from') ?? to[0];
  if (from === undefined) throw new SettingsError('ALERT_EMAIL is missing: SMTP_URL requires it');
  if (!MAIL_ADDRESS.test(from)) throw new SettingsError('SMTP_URL: its "from" must be a mail address');
  return { url: server, from, to };
}
