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
  // this machine
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://a.localhost/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://2130706433/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://127.9.9.9/',
  'https://0.0.0.0/',
  'https://0/',
  'https://[::1]/',
  'https://[::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  // private
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://198.18.0.1/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://printer.local/',
  // link-local and metadata
  'https://169.254.169.254/latest',
  'https://0xa9fea9fe/',
  'https://100.100.100.200/',
  'https://168.63.129.16/',
  'https://[fe80::1]/',
  'https://[febf::1]/',
  'https://[fd00:ec2::254]/',
  'https://metadata.google.internal/',
  // IPv4 inside IPv6
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:8.8.8.8]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:4136:e378::1]/',
  // multicast, broadcast and unspecified
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[ff02::1]/',
  // spelt with full-width digits and dots
  'https://１２７.0.0.1/',
  'https://127。0。0。1/',
];

const LOCAL: readonly string[] = ['http://localhost:3000/x', 'http://127.0.0.1:3000/x', 'https://localhost:3000/x'];
const NEVER_LOCAL: readonly string[] = [
  'http://[::1]:3000/',
  'http://127.0.0.2:3000/',
  'http://a.localhost:3000/',
  'http://192.168.1.1/',
  'http://partner.example/',
  'http://user:password@localhost:3000/',
  'ftp://localhost/',
];

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
