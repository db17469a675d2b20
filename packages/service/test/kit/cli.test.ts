import { readFile, writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { endpoints } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { unique } from '../support/demo.js';
import { listen } from '../support/listen.js';
import { start } from '../support/processes.js';
import { CHANNEL_COMMAND, type CommandOptions, type CommandOutcome, kitService, runCommand } from './support.js';

const kit = ofFile(kitService);
/** All output so far. */
let printed = '';

async function noted(outcome: Promise<CommandOutcome>): Promise<CommandOutcome> {
  const { out, err } = await outcome;
  printed += `${out}\n${err}\n`;
  return outcome;
}
const run = (argv: string, options?: CommandOptions) => noted(kit.run(argv.split(' '), options));
const bare = (argv: readonly string[], options?: CommandOptions) => noted(runCommand(argv, options));

const create = (more = '') =>
  run(
    `orders create --settlement-mode CHANNEL_COLLECT --product-code TEST_SPU_001 --external-order-no ${unique('cli')} ` +
      `--channel-user-id ${unique('cli-user')} --mobile 138${unique('').replace(/\D/g, '').slice(-8).padStart(8, '0')} --json${more}`,
  );

describe('endpoints as commands', () => {
  it('there is one for each, with its options from the schema', async () => {
    for (const { name, request } of endpoints) {
      const { status, out } = await bare(['help', ...name.split('/')]);
      expect(status).toBe(0);
      expect(out).toContain(`Usage: npx perennial-channel ${name.replaceAll('/', ' ')} [options]`);
      for (const field of Object.keys((request as { properties: object }).properties)) {
        if (['grantType', 'appId'].includes(field)) continue;
        const option = field.replace(/Encrypted$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
        expect(out, name).toMatch(new RegExp(`--${option}[ .\\n]`));
      }
      expect(await bare([name, '--help'])).toMatchObject({ status: 0, out });
      expect(out, `${name} has an option without a word`).not.toMatch(/^ {2}--\S+( <\S+>)?( +needed)?$/m);
    }
  });

  it('an order in mode B: created, queried, listed, unsubscribed', async () => {
    const created = await create();
    expect(created).toMatchObject({ status: 0, err: '', json: { orderStatus: 'ACTIVE' } });
    const { orderNo, externalOrderNo } = created.json;
    const shown = await run(`orders query ${orderNo}`);
    expect(shown.out).toMatch(new RegExp(`^orderNo +${orderNo}$`, 'm'));
    expect(shown.out).toMatch(/^ +paymentOrderNo +cycleNo /m);
    expect(shown.out).toMatch(new RegExp(`^ +${orderNo}0001 +1 .* BILLED$`, 'm'));
    expect((await run(`orders query --external-order-no ${externalOrderNo} --json`)).json.orderNo).toBe(orderNo);
    expect((await run(`orders/query ${orderNo} --json`)).json.orderNo).toBe(orderNo);
    expect((await run(`payments query ${orderNo}0001 --json`)).json.paymentStatus).toBe('BILLED');
    const events = await run(`events list ${orderNo}`);
    expect(events.out).toMatch(/payment\.status\.changed/);
    expect((await run('events list --size 1')).out).toMatch(/^more records: --cursor \S+$/m);
    const ended = await kit.run(['orders', 'unsubscribe', orderNo, '--reason', 'two words']);
    expect(ended.out).toMatch(/^orderStatus +UNSUBSCRIBED$/m);
    const [eventId] = (await run(`events list ${orderNo} --json`)).json.events.map(
      (one: { eventId: string }) => one.eventId,
    );
    expect((await run(`events replay ${eventId} --json`)).json).toEqual({ replayed: expect.any(Number) });
  });

  it('an order in A.2, by dotted options, by a body, and from standard input', async () => {
    const user = unique('cli-shared');
    const agreement = {
      paymentChannelCode: 'MOCKPAY',
      sharedAgreementNo: user,
      bankCardNo: '6222020000001234567',
      bankMobile: '13800000001',
      certificateNo: '110101199001011234',
      realName: '张三',
      channelUserId: user,
    };
    const body = {
      settlementMode: 'SVC_DEDUCT',
      productCode: 'TEST_SPU_001',
      channelUserId: user,
      mobile: '13911112222',
    };
    const dotted = Object.entries(agreement).flatMap(([name, value]) => [
      `--shared-agreement.${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      value,
    ]);
    const order = ['orders', 'create', '--json', '--external-order-no'];
    const byOptions = await kit.run([...order, unique('cli'), '--body', JSON.stringify(body), ...dotted]);
    expect(byOptions.json, byOptions.err).toMatchObject({ orderStatus: 'ACTIVE' });
    const file = path.join(kit.folder, 'order.json');
    await writeFile(file, JSON.stringify({ ...body, sharedAgreement: agreement, externalOrderNo: 'another' }));
    const externalOrderNo = unique('cli');
    expect((await kit.run([...order, externalOrderNo, '--body', file])).json).toMatchObject({ externalOrderNo });
    const input = JSON.stringify({ ...body, sharedAgreement: agreement });
    const fromInput = await kit.run([...order, unique('cli'), '--body', '-'], { input });
    expect(fromInput.json).toMatchObject({ orderStatus: 'ACTIVE' });
    const { orderNo } = fromInput.json;
    const refunded = await run(`sandbox payments refund ${orderNo}0001 --amount-cent 10 --json`);
    expect(refunded.json).toMatchObject({ paymentStatus: 'REFUND_PART', refundAmountCent: 10 });
    const advanced = await run(`sandbox orders advance ${orderNo} --cycles 2 --outcomes FAIL,SUCCESS --json`);
    expect(advanced.json.paymentRecords[1].paymentStatus).toBe('FAIL');
    expect((await run('agreements user-data --channel-user-id nobody')).out).toMatch(/none/);
  });

  it('the same key is the same request', async () => {
    const command =
      `orders create --settlement-mode CHANNEL_COLLECT --product-code TEST_SPU_001 --external-order-no ${unique('cli')} ` +
      `--channel-user-id ${unique('cli-key')} --mobile 13800001111 --idempotency-key ${unique('key')}`;
    const first = await run(`${command} --json`);
    const again = await run(command);
    expect(again).toMatchObject({ status: 0, err: expect.stringContaining('first request with this key') });
    expect(again.out).toContain(first.json.orderNo);
  });

  it('a token is shortened, and complete in JSON, as the help says', async () => {
    const { out } = await run('auth token');
    expect(out).toMatch(/^accessToken +\S{8}\.\.\.$/m);
    expect((await kit.run(['auth', 'token', '--json'])).json.accessToken.length).toBeGreaterThan(20);
    expect((await bare(['help', 'auth', 'token'])).out).toContain('With --json it prints the whole token');
  });

  it('the credentials may be in the environment, and options before the command', async () => {
    const { appId, appSecret, aesKey, callbackSecret } = kit.credentials;
    const env = {
      PERENNIAL_BASE_URL: 'http://127.0.0.1:1',
      PERENNIAL_APP_ID: appId,
      PERENNIAL_APP_SECRET: appSecret,
      PERENNIAL_AES_KEY: aesKey,
      PERENNIAL_CALLBACK_SECRET: callbackSecret,
    };
    const found = await bare(['--json', '--base-url', kit.baseUrl, 'products', 'list'], { env });
    expect(found.json.items.length).toBeGreaterThan(1);
    const missing = await bare(['products', 'list'], { env: { ...env, PERENNIAL_AES_KEY: undefined } });
    expect(missing).toMatchObject({ status: 2, err: expect.stringContaining('PERENNIAL_AES_KEY is missing') });
    const malformed = await bare(['products', 'list'], { env: { ...env, PERENNIAL_APP_SECRET: appSecret.slice(1) } });
    expect(malformed).toMatchObject({ status: 2, err: expect.stringContaining('appSecret must be 32 bytes') });
  });
});

describe('errors', () => {
  const url = 'http://localhost/';
  it.each<[command: string, message: string, about?: string]>([
    ['orders creat', "orders: unknown command 'creat' (Did you mean create?)"],
    ['order', "unknown command 'order' (Did you mean orders?)", ''],
    ['--nothing', "unknown option '--nothing'", ''],
    ['orders query 1 2', "orders query: too many arguments for 'query'"],
    ['orders query --ordr-no 1', "orders query: unknown option '--ordr-no' (Did you mean --order-no?)"],
    ['orders query --order-no', "orders query: option '--order-no <text>' argument missing"],
    ['orders create --settlement-mode A', "orders create: option '--settlement-mode <text>' argument 'A' is invalid"],
    ['orders list u --size ten', "orders list: option '--size <number>' argument 'ten' is invalid"],
    ['orders query 1 --body {"mobile":"1"}', 'orders query: mobile has no place here'],
    ['orders query --body {', 'orders query: --body is not a JSON object'],
    ['orders query --body /nowhere', 'orders query: --body: /nowhere cannot be read'],
    ['listen', "listen: required option '--forward <url>' not specified"],
    ['listen --forward localhost', 'listen: localhost is not a URL'],
    ['listen --forward ftp://localhost/', 'listen: the URL must begin with http:// or https://'],
    [`listen --forward ${url}?a=1`, 'listen: the URL must have no query'],
    [`listen --forward ${url} --since yesterday`, 'listen: --since must be a time'],
    [`listen --forward ${url} --events order`, "listen: option '--events <type,...>' argument 'order' is invalid"],
    ['trigger', 'trigger: name a scenario'],
    ['trigger refnd', "trigger: command-argument value 'refnd' is invalid"],
    ['check-receiver', "check-receiver: missing required argument 'url'"],
    [`check-receiver ${url} --new-callback-secret short`, 'check-receiver: --new-callback-secret must be 32 bytes'],
  ])('2: %s', async (command, message, about = message.slice(0, message.indexOf(':'))) => {
    const help = `npx perennial-channel help ${about}`.trim();
    const { status, err, out } = await run(command);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain(`perennial-channel: ${message}`);
    expect(err.split('\n').at(-1)).toBe(`See: ${help}`);
    const inJson = await run(`${command} --json`.replace('--order-no --json', '--json --order-no'));
    expect(inJson).toMatchObject({ status: 2, err: '' });
    expect(inJson.json.error.message).toContain(message);
    expect(inJson.json.error.help).toBe(help);
  });

  it('a group alone shows its commands, and so does its help', async () => {
    const alone = await bare(['orders']);
    expect(alone).toMatchObject({ status: 2, out: '', err: expect.stringMatching(/^ {2}create \[options\] +Create/m) });
    for (const argv of [
      ['help', 'orders'],
      ['orders', '--help'],
    ]) {
      expect(await bare(argv)).toMatchObject({ status: 0, err: '', out: alone.err });
    }
    expect((await bare(['sandbox', 'orders', '-h'])).out).toMatch(/^ {2}advance /m);
    const { error } = (await bare(['orders', '--json'])).json;
    expect(error).toMatchObject({ message: 'orders: name a command', help: 'npx perennial-channel help orders' });
  });

  it('the version is the package’s, also when installed', async () => {
    const { version } = JSON.parse(
      await readFile(path.join(path.dirname(CHANNEL_COMMAND), '..', 'package.json'), 'utf8'),
    );
    expect(await bare(['--version'])).toMatchObject({ status: 0, out: version });
    const installed = start(CHANNEL_COMMAND, {}, ['--version']);
    expect(await installed.exited).toBe(0);
    expect(installed.stdout()).toBe(`${version}\n`);
  });

  it('the credentials may be in DATA_DIR', async () => {
    const found = await bare(['products', 'list', '--json'], { env: { DATA_DIR: kit.folder } });
    expect(found.json.items.length).toBeGreaterThan(1);
    const { status, err } = await bare(['products', 'list'], { env: { DATA_DIR: '/nowhere' } });
    expect([status, err]).toEqual([
      2,
      expect.stringContaining('/nowhere/demo-channel.json cannot be read: start a sandbox'),
    ]);
  });

  it("the sandbox's warnings are printed as errors, also with --json", async () => {
    const { status, json, err } = await run('products list --body {"sizes":1} --json');
    expect([status, json.size]).toEqual([0, 100]);
    expect(err).toBe('warning: products/list: unknown field sizes is ignored: size was probably meant');
  });

  it('2: no command, or a missing file', async () => {
    const nothing = await bare([]);
    expect(nothing).toMatchObject({ status: 2, out: '', err: expect.stringContaining('listen') });
    expect(await bare(['help'])).toMatchObject({ status: 0, err: '', out: nothing.err });
    const lost = await bare(['products', 'list', '--channel', '/nowhere.json']);
    expect(lost).toMatchObject({ status: 2, err: expect.stringContaining('/nowhere.json cannot be read') });
    const file = path.join(kit.folder, 'no-channel.json');
    for (const text of ['{"appId": "x"', '["a"]', '']) {
      await writeFile(file, text);
      const { status, err } = await bare(['products', 'list', '--channel', file]);
      expect([status, err]).toEqual([2, expect.stringContaining(`products list: ${file} is not a JSON object`)]);
    }
  });

  it('1: a refusal by the service, with its code', async () => {
    const { status, err } = await run('orders query 1');
    expect(status).toBe(1);
    expect(err).toMatch(/orders\/query was refused: 420001 SUBSCRIPTION_NOT_FOUND: no such order\nrequest id \S+$/);
    const { json } = await run('orders query 1 --json');
    expect(json.error).toMatchObject({ code: '420001', name: 'SUBSCRIPTION_NOT_FOUND', endpoint: 'orders/query' });
    const red = await run('orders query 1', { hasColours: true });
    expect(red.err).toContain('\u001b[31m');
  });

  it('1: the service is not running', async () => {
    const away = await run('products list --base-url http://127.0.0.1:1');
    expect(away).toMatchObject({
      status: 1,
      err: expect.stringContaining(
        'is the service running at this address? To start a local sandbox, run npm start in a clone',
      ),
    });
    const inJson = await run('products list --base-url http://127.0.0.1:1 --json');
    expect(inJson).toMatchObject({ status: 1, err: '', json: { error: { name: 'NO_ANSWER', reason: 'connection' } } });
  });

  it('1: the service reports a value of the wrong type', async () => {
    const { status, json } = await run('orders query --body {"orderNo":5} --json');
    expect([status, json.error.name]).toEqual([1, 'PARAM_INVALID']);
  });

  it('1: an unexpected error is one line, with its stack only on request', async () => {
    const readInput = () => Promise.reject(new RangeError('odd\u001b'));
    const line = 'perennial-channel: unexpected error: RangeError: odd\\u001b; set PERENNIAL_DEBUG=1 to see the stack';
    const command = ['orders', 'query', '--body', '-'];
    expect(await bare(command, { readInput })).toMatchObject({ status: 1, out: '', err: line });
    const { status, err, json } = await bare([...command, '--json'], { readInput });
    expect([status, err, json.error.name]).toEqual([1, '', 'UNFORESEEN']);
    const asked = await bare(command, { readInput, env: { PERENNIAL_DEBUG: '1' } });
    expect(asked.err).toMatch(/^perennial-channel: unexpected error.*\nRangeError: odd.*\n +at /);
  });

  it('1: a wrong signature, with the sandbox’s diagnosis', async () => {
    const diagnosis = {
      lines: ['POST', '/openapi/v1/auth/token', '', 'abc', '1', 'n', 'r\u001b[2J\u009b2J\u202e'],
      likely: [{ mistake: 'secret-not-decoded', hint: 'the secret is base64: decode it' }],
    };
    const server = http.createServer(({ url = '' }, response) => {
      if (url.startsWith('/developers/refused/')) return void response.end(JSON.stringify({ diagnosis }));
      const envelope = { code: '401002', message: 'signature does not match: so', data: null, requestId: 'r-1' };
      const headers = { 'Content-Type': 'application/json', 'X-SVC-Diagnosis': 'secret-not-decoded' };
      response.writeHead(401, headers).end(JSON.stringify(envelope));
    });
    const baseUrl = `http://127.0.0.1:${await listen(server)}`;
    const { status, err } = await run(`products list --base-url ${baseUrl}`);
    const { json, out } = await run(`products list --base-url ${baseUrl} --json`);
    expect(status).toBe(1);
    expect(err).toContain('401002 SIGNATURE_INVALID: signature does not match');
    expect(err).toContain('Likely wrong-secret: appSecret is not the one of this appId');
    expect(err).toContain('  3  (empty)\n');
    expect(err).toContain('  7  r\\u001b[2J\\u009b2J\\u202e');
    expect(out).toContain('r\\u001b[2J\\u009b2J\\u202e');
    expect(json.error.diagnosis).toEqual(diagnosis);
  });

  it('no secret was ever printed', () => {
    expect(printed.length).toBeGreaterThan(10_000);
    const { appSecret, aesKey, callbackSecret } = kit.credentials;
    for (const secret of [appSecret, aesKey, callbackSecret]) expect(printed).not.toContain(secret);
  });
});
