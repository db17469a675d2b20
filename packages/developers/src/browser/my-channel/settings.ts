import type { ChannelSetData } from '@perennial/wire';
import { areKept, type Credentials, keepCredentials, openChannel, tell } from '../channel.js';
import { element } from '../dom.js';
import { byId, client, send, useChannel, valueIn } from './session.js';

/**
 * Reads the settings. Their fields and buttons are disabled meanwhile, so that the answer does not replace what the
 * reader types, and nothing is saved that the reader has not seen.
 */
export async function readSettings(): Promise<void> {
  const fields = [
    byId<HTMLInputElement>('callback-url'),
    byId<HTMLSelectElement>('fields-version'),
    byId<HTMLInputElement>('notice-days'),
  ];
  const controls = fields.flatMap((field) => [field, ...(field.form?.querySelectorAll('button') ?? [])]);
  for (const control of controls) control.disabled = true;
  try {
    showSettings((await send('sandbox/channel/set', {})).data);
  } finally {
    for (const control of controls) control.disabled = false;
  }
}

function showSettings({ callbackUrls, encryptedFields, upcomingNoticeDays, formerSecretUntil }: ChannelSetData): void {
  byId<HTMLInputElement>('callback-url').value = callbackUrls.find(({ forEvents }) => forEvents === '*')?.url ?? '';
  const others = callbackUrls.filter(({ forEvents }) => forEvents !== '*');
  byId('callback-others').replaceChildren(
    ...others.map(({ forEvents, url }) =>
      element('li', {}, `${forEvents}: `, element('code', {}, url), ', set by your operator'),
    ),
  );
  byId<HTMLSelectElement>('fields-version').value = encryptedFields;
  byId<HTMLInputElement>('notice-days').value = String(upcomingNoticeDays);
  byId('overlap-until').textContent =
    formerSecretUntil === null ? '' : `The former appSecret is valid until ${formerSecretUntil}.`;
}

export async function saveCallback(): Promise<void> {
  const { data } = await send('sandbox/channel/set', { callbackUrl: valueIn('callback-url') });
  showSettings(data);
  const url = data.callbackUrls.find(({ forEvents }) => forEvents === '*')?.url;
  tell(
    byId('callback-said'),
    'right',
    url === undefined ? 'Your channel has no callback address' : `Your events are sent to ${url}`,
  );
}

export async function sendTestPush(): Promise<void> {
  const { data } = await send('sandbox/events/test', {});
  const { accepted, url, httpStatus, answer, durationMs } = data;
  const answered = httpStatus === null ? answer : `HTTP ${httpStatus} after ${durationMs} ms: ${answer}`;
  const title = accepted ? 'Your receiver accepted the test push' : 'Your receiver did not accept the test push';
  tell(
    byId('callback-said'),
    accepted ? 'right' : 'wrong',
    title,
    ...(url === null ? [] : [element('code', { class: 'long' }, url)]),
    ` ${answered}`,
  );
}

export async function saveFields(): Promise<void> {
  const { data } = await send('sandbox/channel/set', { encryptedFields: valueIn('fields-version') });
  showSettings(data);
  tell(byId('fields-said'), 'right', `Encrypted fields are in svc_aes_${data.encryptedFields}`);
}

export async function saveNotice(): Promise<void> {
  const { data } = await send('sandbox/channel/set', { upcomingNoticeDays: Number(valueIn('notice-days')) });
  showSettings(data);
  const { upcomingNoticeDays: days } = data;
  tell(
    byId('notice-said'),
    'right',
    days === 0
      ? 'Your channel gets no notices'
      : `The notice is sent ${days} ${days === 1 ? 'day' : 'days'} before the debit`,
  );
}

export function showOverlap(): void {
  byId<HTMLSelectElement>('roll-overlap').disabled = valueIn('roll-name') !== 'appSecret';
}

const SECRET_BYTES = 32;

export async function rollSecret(): Promise<void> {
  const name = valueIn('roll-name');
  const secret = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))));
  const overlapHours = Number(valueIn('roll-overlap'));
  const said = byId('roll-said');
  const show = (kind: 'right' | 'wrong', title: string) =>
    tell(said, kind, title, `New ${name}: `, element('code', { class: 'long', id: 'new-secret' }, secret));
  const body = { [name]: secret, ...(name === 'appSecret' ? { overlapHours } : {}) };
  try {
    const { data } = await send('sandbox/channel/set', body);
    showSettings(data);
  } catch (error) {
    // Without an answer the secret may be in use, so it must not be lost.
    if (typeof (error as { code?: unknown }).code !== 'string')
      return show('wrong', 'No answer: the secret may have changed. Sign in with the new one to find out');
    throw error;
  }
  byId<HTMLFormElement>('roll-form').reset();
  showOverlap();
  await takeOver(name, secret);
  show('right', `The ${name} is replaced. Store the new one now`);
}

/** Continues with the new secret. */
async function takeOver(name: string, secret: string): Promise<void> {
  const credentials: Credentials = {
    ...client().credentials,
    ...(name === 'callbackSecret' ? {} : { [name]: secret }),
  };
  const wereKept = areKept();
  useChannel(await openChannel(credentials));
  if (wereKept) keepCredentials(credentials);
}
