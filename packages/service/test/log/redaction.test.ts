import { encryptField, HEADERS, PATH_PREFIX } from '@perennial/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resetCredentials } from '../../src/operator/provisioning/channels.js';
import { type CapturedLog, capturedLog } from '../support/captured-log.js';
import { type ChannelClient, channelClient } from '../support/channel-client.js';
import { rawExchange, requestBytes } from '../support/raw-http.js';
import { type TestService, testService } from '../support/service.js';
import { DONE, testRoute } from '../support/test-endpoint.js';

/** Values that a client may send in a request. */
const CARD = '6222020200112233445';
const MOBILE = '13800138000';
const NAME = '张三丰';
const CREDENTIALS = ['appSecret', 'aesKey', 'callbackSecret'] as const;

describe('the log of requests', () => {
  let service: TestService;
  let channel: ChannelClient;
  let captured: CapturedLog;
  /** Values that must not be in the log, by kind. */
  const secrets = new Map<string, string>([
    ['card', CARD],
    ['mobile', MOBILE],
    ['name', NAME],
  ]);

  beforeAll(async () => {
    captured = capturedLog();
    const moreRoutes = [
      testRoute('test/taking', async ({ answer }) => answer(DONE)),
      testRoute('test/fault', async (_context, request) => {
        const { orderNo, reason } = request as { orderNo: string; reason: string };
        throw new Error(`cannot charge ${orderNo} with ${reason}`, {
          cause: new Error(`card ${orderNo} of ${reason}`),
        });
      }),
      testRoute('test/fault-with-request', async ({ channel: { appSecret } }, request) => {
        throw Object.assign(new Error('a client hung its request on the error'), { request, config: { appSecret } });
      }),
      testRoute('test/sql-value', async (_context, request) => {
        await service.fresh.database.query('select $1::text::integer', [(request as { orderNo: string }).orderNo]);
        throw new Error('unreachable');
      }),
      testRoute('test/sql-row', async (_context, request) => {
        const { orderNo, reason } = request as { orderNo: string; reason: string };
        await service.fresh.database.query(
          `insert into channels (app_id, name, rate_per_second, rate_burst, data_key, app_secret, aes_key, callback_secret)
           values ($1, $2, 0, 0, 'x', 'x', 'x', 'x')`,
          [orderNo, reason],
        );
        throw new Error('unreachable');
      }),
    ];
    service = await testService({ moreRoutes, log: captured.log });
    channel = await service.channel();
  });
  afterAll(() => service.close());

  /** Calls an endpoint, and notes the request's signature as a secret. */
  async function call(name: string, body: object, options: { token?: string; signRaw?: string } = {}) {
    const bytes = Buffer.from(JSON.stringify(body));
    const requestId = `log-${secrets.size}`;
    const nonce = String(secrets.size).padStart(32, '0');
    const headers: Record<string, string> = channel.signedHeaders(name, bytes, { ...options, requestId, nonce });
    secrets.set(`signature ${requestId}`, headers[HEADERS.signature] ?? '');
    return channel.callBare(name, body, { ...options, requestId, nonce });
  }

  it('contains no secrets, tokens, signatures, ciphertexts or plaintexts', async () => {
    for (const name of CREDENTIALS) secrets.set(name, channel.credentials[name]);
    const aesKey = Buffer.from(channel.credentials.aesKey, 'base64');
    const token = await channel.getToken();
    secrets.set('token', token);
    // Changes a character in the middle, because some bits of the last character are not used.
    const changed = token.slice(0, 20) + (token[20] === 'A' ? 'B' : 'A') + token.slice(21);
    const ciphertext = encryptField(CARD, aesKey);
    secrets.set('ciphertext', ciphertext.slice('svc_aes_v1:'.length));
    const fields = { bankCardNoEncrypted: ciphertext, mobile: MOBILE, realName: NAME };

    const answered: string[] = [];
    const ask = async (...args: Parameters<typeof call>) => answered.push((await call(...args)).code);
    await ask('test/taking', { orderNo: CARD, reason: NAME, ...fields }, { token });
    await ask('test/taking', { orderNo: 1, ...fields }, { token });
    await ask('test/taking', { orderNo: '1', ...fields }, { token: changed });
    await ask('test/taking', { orderNo: '1', ...fields }, { token, signRaw: NAME });
    await ask('auth/token', { grantType: channel.credentials.appSecret, appId: CARD });
    await ask('test/fault', { orderNo: CARD, reason: `${MOBILE} ${ciphertext} ${token}` }, { token });
    await ask('test/fault', { orderNo: channel.credentials.appSecret, reason: channel.credentials.aesKey }, { token });
    await ask('test/fault-with-request', { orderNo: CARD, reason: NAME, ...fields }, { token });
    await ask('test/sql-value', { orderNo: NAME }, { token });
    await ask('test/sql-value', { orderNo: `${NAME}\n"${NAME}"` }, { token });
    await ask('test/sql-value', { orderNo: '9'.repeat(19) }, { token });
    await ask('test/sql-row', { orderNo: CARD, reason: NAME }, { token });
    const faults = Array<string>(7).fill('500001');
    expect(answered).toEqual(['0', '400001', '401005', '401002', '400001', ...faults]);

    const query = `?card=${CARD}&token=${token}`;
    await channel.callBare('', {}, { path: `/openapi/v1/${CARD}`, query: query.slice(1), token });
    await rawExchange(
      service.baseUrl,
      requestBytes(`${PATH_PREFIX}test/taking${query}`, {
        Authorization: `Bearer ${token}`,
        Cookie: token,
        Connection: 'close',
      }),
      `${NAME}\r\n\r\n`,
    );
    const reset = await resetCredentials(service.operator, { appId: channel.credentials.appId });
    for (const name of ['appSecret', 'aesKey', 'callbackSecret'] as const)
      secrets.set(`new ${name}`, reset[name] ?? '');
    const renewed = { ...channel.credentials, appSecret: reset.appSecret ?? '' };
    const after = channelClient(service.baseUrl, renewed, () => service.clock.now());
    secrets.set('new token', await after.getToken());
    await after.callBare('test/taking', { orderNo: '1' }, { token });

    // The log has a line for every fault and request, so the search below is meaningful.
    expect(captured.lines().filter((line) => line.msg === 'fault')).toHaveLength(faults.length);
    expect(captured.lines().filter((line) => line.msg === 'request').length).toBeGreaterThanOrEqual(answered.length);
    secrets.set('number', '9'.repeat(19));
    const text = captured.text();
    const found = [...secrets].filter(([, value]) => {
      expect(value.length).toBeGreaterThan(2);
      return text.includes(value) || text.includes(JSON.stringify(value).slice(1, -1));
    });
    expect(found.map(([name]) => name)).toEqual([]);
  });

  it('contains the caller, the endpoint, the outcome, and the place of a fault', () => {
    const { appId } = channel.credentials;
    const line = captured
      .lines()
      .find((one) => one.msg === 'request' && one.code === '0' && one.endpoint.endsWith('/taking'));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      requestId: expect.stringMatching(/^log-/),
      appId,
      endpoint: `${PATH_PREFIX}test/taking`,
      status: 200,
      code: '0',
      ms: expect.any(Number),
      msg: 'request',
    });
    const fault = captured.lines().find((one) => one.path === `${PATH_PREFIX}test/sql-row`);
    expect(fault.err).toMatchObject({ code: '23514', constraint: expect.stringMatching(/^channels_/) });
    expect(fault.err.stack).toMatch(/^ +at .*redaction\.test\.ts/m);
  });
});

describe('fields that code may log by mistake', () => {
  const names = [
    'authorization',
    'Authorization',
    'x-svc-signature',
    'accessToken',
    'token',
    'appSecret',
    'aesKey',
    'callbackSecret',
    'masterKey',
    'password',
    'dataKey',
    'mobile',
    'bankCardNo',
    'bankCardNoEncrypted',
    'certificateNo',
    'realName',
    'smsCode',
    'sharedAgreementNo',
    'connectionString',
    'body',
  ];
  it.each(names)('%s is redacted, also two levels deep and in lists', (name) => {
    const { log, text, lines } = capturedLog();
    const secret = { [name]: 'sesame' };
    log.info(secret, 'top');
    log.info({ request: secret }, 'one level down');
    log.info({ request: { headers: secret } }, 'two levels down');
    log.info({ channels: [secret, secret] }, 'in a list');
    expect(text()).not.toContain('sesame');
    expect(text().match(/\[redacted\]/g)).toHaveLength(5);
    expect(lines()).toHaveLength(4);
  });

  it.each(['err', 'error'])('an error under %s shows its kind and place, but no attached data', (key) => {
    const { log, text, lines } = capturedLog();
    const error = Object.assign(new TypeError('no such field: "sesame"'), {
      code: '22P02',
      detail: 'Failing row contains (sesame)',
      where: 'unnamed portal parameter $1 = sesame',
      internalQuery: 'select sesame',
      response: { data: 'sesame' },
    });
    log.error({ [key]: error }, 'failed');
    expect(text()).not.toContain('sesame');
    expect(lines()[0][key]).toMatchObject({ type: 'TypeError', code: '22P02', message: 'no such field: "…"' });
  });

  it.each([
    'value "sesame" is out of range for type integer',
    'invalid input syntax for type integer: "open\nsesame"',
    'Unexpected token \'a\', "{"sesame":a" is not valid JSON',
    'ciphertext svc_aes_v1:sesameAAAA/+== does not open',
    'ciphertext svc_aes_v2:sesameAAAA/+== does not open',
    `key ${Buffer.from('sesame'.repeat(6)).toString('base64').slice(0, 43)}= is refused`,
  ])('an error message does not quote: %s', (message) => {
    const { log, text } = capturedLog();
    log.error({ err: new Error(message) }, 'failed');
    expect(text()).not.toMatch(/sesame|c2VzYW1l/);
  });
});
