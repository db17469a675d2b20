import { describe, expect, it } from 'vitest';
import { checkCallbackUrl } from '../../src/operator/provisioning/addresses/callback-url.js';

const ACCEPTED: readonly [text: string, stored: string][] = [
  ['https://partner.example/events', 'https://partner.example/events'],
  ['https://partner.example', 'https://partner.example/'],
  ['https://PARTNER.example:8443/a%20b', 'https://partner.example:8443/a%20b'],
  ['https://伙伴.example/', 'https://xn--5oq7b.example/'],
  ['https://8.8.8.8/hook', 'https://8.8.8.8/hook'],
  ['https://203.0.113.5/hook', 'https://203.0.113.5/hook'],
  ['https://172.32.0.1/', 'https://172.32.0.1/'],
  ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
  ['https://localhost.example.com/', 'https://localhost.example.com/'],
  ['https://notlocalhost/', 'https://notlocalhost/'],
];

/** Refused URLs. Addresses that are not on the public internet are tested in webhooks/addresses.test.ts. */
const REFUSED: readonly string[] = [
  '',
  'partner.example/events',
  'http://partner.example/events',
  'ftp://partner.example/',
  'javascript:alert(1)',
  'https://',
  'https://user@partner.example/',
  'https://user:password@partner.example/',
  'https://:password@partner.example/',
  'https://partner.example/#part',
  'https://partner.example/#',
  'https://partner.example/events?x=1',
  'https://partner.example/events?',
  ' https://partner.example/',
  'https://partner.example/a b',
  'https://part\nner.example/',
  `https://partner.example/${'a'.repeat(1024)}`,
];

const LOCAL: readonly string[] = ['http://localhost:3000/x', 'http://127.0.0.1:3000/x', 'https://localhost:3000/x'];
const NEVER_LOCAL: readonly string[] = ['http://user:password@localhost:3000/', 'ftp://localhost/'];

describe('a callback address', () => {
  it.each(ACCEPTED)('%s is accepted', (text, stored) => {
    expect(checkCallbackUrl(text, { local: false })).toEqual({ url: stored });
  });

  it.each(REFUSED)('%j is refused', (text) => {
    expect(checkCallbackUrl(text, { local: false })).toEqual({ refusal: expect.stringMatching(/^.+$/) });
  });

  it.each(LOCAL)('%s is accepted only where this machine may be called', (text) => {
    expect(checkCallbackUrl(text, { local: true })).toEqual({ url: text });
    expect(checkCallbackUrl(text, { local: false })).toHaveProperty('refusal');
  });

  it.each(NEVER_LOCAL)('%s is refused even where this machine may be called', (text) => {
    expect(checkCallbackUrl(text, { local: true })).toHaveProperty('refusal');
  });
});
