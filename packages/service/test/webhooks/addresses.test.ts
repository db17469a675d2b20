import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPushClient } from '../../src/delivery/transport/push-client.js';
import { checkCallbackUrl } from '../../src/operator/provisioning/addresses/callback-url.js';
import { type TestNetwork, testNetwork } from './network.js';
import { signedPush, startReceiver } from './receiver.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');

let network: TestNetwork;
beforeEach(() => {
  network = testNetwork();
});
afterEach(() => network.restore());

/** Internal addresses in many notations, and URLs without https. They are refused at registration and at a push. */
const ADDRESSES: readonly [what: string, url: string][] = [
  ['this machine', 'https://127.0.0.1/'],
  ['this machine, another of its addresses', 'https://127.8.8.8/'],
  ['this machine with a port', 'https://127.0.0.1:8443/'],
  ['this machine in short', 'https://127.1/'],
  ['this machine as one number', 'https://2130706433/'],
  ['this machine in hexadecimal', 'https://0x7f000001/'],
  ['this machine in hexadecimal parts', 'https://0x7f.0x0.0x0.0x1/'],
  ['this machine in octal', 'https://0177.0.0.01/'],
  ['this machine in octal, as one number', 'https://017700000001/'],
  ['this machine in full-width digits', 'https://１２７.0.0.1/'],
  ['this machine in circled digits', 'https://①②⑦.⓪.⓪.①/'],
  ['this machine with ideographic dots', 'https://127。0。0。1/'],
  ['this machine with escaped digits', 'https://%31%32%37.0.0.1/'],
  ['this machine with a dot at the end', 'https://127.0.0.1./'],
  ['this machine behind backslashes', 'https:\\\\127.0.0.1\\'],
  ['no machine in particular', 'https://0.0.0.0/'],
  ['no machine, as a number', 'https://0/'],
  ['a private network, 10', 'https://10.255.255.255/'],
  ['a private network, 10, as one number', 'https://167772161/'],
  ['a private network, 172.16', 'https://172.16.0.1/'],
  ['a private network, 172.31', 'https://172.31.255.255/'],
  ['a private network, 192.168', 'https://192.168.0.1/'],
  ['a carrier network', 'https://100.64.0.1/'],
  ['link-local', 'https://169.254.1.1/'],
  ['metadata', 'https://169.254.169.254/latest/meta-data'],
  ['metadata in hexadecimal', 'https://0xa9fea9fe/'],
  ['metadata as one number', 'https://2852039166/'],
  ['metadata in octal', 'https://0251.0376.0251.0376/'],
  ['metadata of a cloud in 100.64.0.0/10', 'https://100.100.100.200/'],
  ['metadata of a cloud on a public address', 'https://168.63.129.16/'],
  ['metadata of a cloud in 192.0.0.0/24', 'https://192.0.0.192/'],
  ['benchmarks', 'https://198.18.0.1/'],
  ['multicast', 'https://224.0.0.251/'],
  ['broadcast', 'https://255.255.255.255/'],
  ['this machine in IPv6', 'https://[::1]/'],
  ['this machine in long IPv6', 'https://[0000:0000:0000:0000:0000:0000:0000:0001]/'],
  ['no machine in IPv6', 'https://[::]/'],
  ['mapped loopback', 'https://[::ffff:127.0.0.1]/'],
  ['mapped loopback in hexadecimal', 'https://[::ffff:7f00:1]/'],
  ['mapped metadata', 'https://[::ffff:169.254.169.254]/'],
  ['a mapped public address', 'https://[::ffff:8.8.8.8]/'],
  ['compatible loopback', 'https://[::127.0.0.1]/'],
  ['translated loopback', 'https://[64:ff9b::127.0.0.1]/'],
  ['translated metadata', 'https://[64:ff9b::a9fe:a9fe]/'],
  ['locally translated', 'https://[64:ff9b:1::10.0.0.1]/'],
  ['6to4 of loopback', 'https://[2002:7f00:1::]/'],
  ['6to4 of a private network', 'https://[2002:c0a8:101::1]/'],
  ['Teredo', 'https://[2001:0:7f00:1::1]/'],
  ['benchmarks in IPv6', 'https://[2001:2::1]/'],
  ['unique local', 'https://[fc00::1]/'],
  ['metadata in IPv6', 'https://[fd00:ec2::254]/'],
  ['metadata of another cloud in IPv6', 'https://[fd20:ce::254]/'],
  ['link-local in IPv6', 'https://[fe80::1]/'],
  ['the end of link-local in IPv6', 'https://[febf::1]/'],
  ['site-local', 'https://[fec0::1]/'],
  ['multicast in IPv6', 'https://[ff02::1]/'],
  ['http', 'http://8.8.8.8/'],
  ['http with the port of https', 'http://8.8.8.8:443/'],
  ['another protocol', 'ftp://8.8.8.8/'],
];

/** Names that look harmless at registration, and their DNS answers at the time of a push. */
const ANSWERS: readonly [what: string, answers: readonly string[]][] = [
  ['this machine', ['127.0.0.1']],
  ['this machine in IPv6', ['::1']],
  ['a private network', ['10.0.0.5']],
  ['metadata', ['169.254.169.254']],
  ['metadata in IPv6', ['fd00:ec2::254']],
  ['mapped loopback', ['::ffff:127.0.0.1']],
  ['mapped loopback in hexadecimal', ['::ffff:7f00:1']],
  ['translated loopback', ['64:ff9b::7f00:1']],
  ['6to4', ['2002:7f00:1::']],
  ['link-local with a zone', ['fe80::1%lo']],
  ['a public address with a zone', ['2606:4700::1111%lo']],
  ['public and private', ['203.0.113.7', '192.168.1.1']],
  ['private and public', ['192.168.1.1', '203.0.113.7']],
  ['public, and private last of many', ['203.0.113.7', '203.0.113.8', '203.0.113.9', '203.0.113.10', '10.0.0.1']],
  ['public in IPv4 and unique local in IPv6', ['203.0.113.7', 'fd12::1']],
  ['something that is no address', ['hooks.internal']],
  ['an address in another spelling', ['0x7f.1']],
  ['an empty answer', ['']],
  ['no address', []],
];

/** Names that are internal whatever their DNS answer is. */
const NAMES: readonly string[] = [
  'https://localhost/',
  'https://LOCALHOST:443/',
  'https://localhost./',
  'https://localhost../',
  'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
  'https://any.localhost/',
  'https://localhost.localdomain/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://router.home.arpa/',
  'https://127.0.0.1../',
];

/** URLs that are refused at registration, so that no push is made. */
const MALFORMED: readonly string[] = [
  'https://[fe80::1%25lo]/',
  'https://[fe80::1%lo]/',
  'https://203.0.113.7@127.0.0.1/',
  'https://127.0.0.1@203.0.113.7/',
  'https://user:password@hooks.example/',
  'https://hooks.example#@127.0.0.1/',
  'https://hooks.example?@127.0.0.1/',
  'https://hooks.example\t/',
  'https://hooks.example:0/',
  'https://hooks.example:70000/',
  'https://256.256.256.256/',
  'https://1.2.3.4.5/',
  '//127.0.0.1/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:5432/',
];

const push = (url: string, resolveName: (host: string) => Promise<readonly string[]>, local = false) =>
  createPushClient({ allowLocalhost: local, resolveName }).push(url, () => signedPush('app', SECRET));
const nobody = async () => {
  throw new Error('an address needs no lookup');
};

describe('a push to an address that is not on the public internet', () => {
  it.each(ADDRESSES)('is refused twice and connects nowhere: %s, %s', async (_what, url) => {
    for (const local of [false, true]) {
      const isHere = local && ['127.0.0.1', '[::1]'].includes(new URL(url).hostname);
      expect('refusal' in checkCallbackUrl(url, { local })).toBe(!isHere);
      if (isHere) continue;
      expect(await push(url, nobody, local)).toMatchObject({ outcome: 'FORBIDDEN', httpStatus: null });
    }
    expect(network.dialled).toEqual([]);
  });

  it.each(ANSWERS)('is refused if its registered name now resolves to: %s', async (_what, answers) => {
    expect(checkCallbackUrl('https://hooks.example/events', { local: false })).toHaveProperty('url');
    for (const local of [false, true]) {
      const result = await push('https://hooks.example/events', async () => answers, local);
      expect(result).toMatchObject({ outcome: 'FORBIDDEN', httpStatus: null });
    }
    expect(network.dialled).toEqual([]);
  });

  it.each(NAMES)('is refused twice if the name itself is internal: %s', async (url) => {
    expect(checkCallbackUrl(url, { local: false })).toHaveProperty('refusal');
    expect(await push(url, async () => ['127.0.0.1'])).toMatchObject({ outcome: 'FORBIDDEN' });
    expect(network.dialled).toEqual([]);
  });

  it.each(MALFORMED)('is never made: %j', (url) => {
    for (const local of [false, true]) expect(checkCallbackUrl(url, { local })).toHaveProperty('refusal');
  });

  it('fails without harm if such an address is stored nevertheless', async () => {
    expect(await push('https://', nobody)).toMatchObject({ outcome: 'UNREACHABLE', answer: 'ERR_INVALID_URL' });
    expect(network.dialled).toEqual([]);
  });
});

describe('the embedded sandbox', () => {
  it.each([
    ['http://localhost', '127.0.0.1'],
    ['http://127.0.0.1', '127.0.0.1'],
    ['http://LocalHost.', '127.0.0.1'],
    ['http://[::1]', '::1'],
  ])('sends to %s', async (origin, address) => {
    const receiver = await startReceiver({ secrets: { app: SECRET } });
    network.route('::1', receiver.port);
    const url = `${origin}:${receiver.port}/events`;
    expect(checkCallbackUrl(url, { local: true })).toHaveProperty('url');
    expect(await push(url, nobody, true)).toMatchObject({ outcome: 'ACCEPTED' });
    expect(await push(url, async () => ['127.0.0.1'], false)).toMatchObject({ outcome: 'FORBIDDEN' });
    expect(network.dialled).toEqual([`${address}:${receiver.port}`]);
    await receiver.close();
  });

  it.each([
    'http://hooks.example/',
    'http://127.0.0.2/',
    'http://any.localhost/',
    'http://constructor/',
    'http://__proto__/',
    'http://192.168.1.1/',
  ])('sends nothing to %s', async (url) => {
    expect(checkCallbackUrl(url, { local: true })).toHaveProperty('refusal');
    expect(await push(url, async () => ['127.0.0.1'], true)).toMatchObject({ outcome: 'FORBIDDEN' });
    expect(network.dialled).toEqual([]);
  });
});
