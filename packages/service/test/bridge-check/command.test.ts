import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { perennial, perennialProcess } from '../cli/perennial.js';
import { attached, KEY, temporaryFolder } from '../institution/support.js';
import { freePort } from '../support/free-port.js';
import { listen } from '../support/listen.js';
import { BadBridge, type Sin } from './bad-bridge.js';
import { cardFile } from './support.js';

const KEY_TEXT = KEY.toString('base64');
const CARD_NUMBER = '6222020000001234567';

async function sinfulBridge(...sins: readonly Sin[]): Promise<BadBridge> {
  const bridge = new BadBridge(KEY);
  for (const sin of sins) bridge.sins.add(sin);
  await bridge.start();
  onTestFinished(() => bridge.stop());
  return bridge;
}

describe('perennial check-bridge', () => {
  it('needs no database, and leaves nothing behind', async () => {
    const { institution } = await attached();
    const folder = await temporaryFolder();
    const keyFile = path.join(folder, 'bridge.key');
    await writeFile(keyFile, `${KEY_TEXT}\n`);
    const given = ['check-bridge', institution.url, '--key-file', keyFile, '--agreement', 'SHARED-8888'];
    const ran = await perennialProcess(given, { DATA_DIR: path.join(folder, 'data') });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr).toMatch(/^If http:\S+ is a real bridge, real money moves: some twenty debits of 1 cent each /);
    expect(ran.stdout).toMatch(/^Rules for both sides\n {2}ok {4}content-type: an answer is application\/json\n/);
    expect(ran.stdout).toMatch(/\n {2}- {5}pending: .*\n {8}could not be tried: not given: --pending\n/);
    expect(ran.stdout).toMatch(/\nAll that was debited was given back\. The numbers begin with CB[0-9a-f]{12}\.\n/);
    expect(ran.stdout).toMatch(/\n\d+ of \d+ rules hold; broken: 0; could not be tried: \d+\n$/);
    expect(existsSync(path.join(folder, 'data'))).toBe(false);
  });

  it('reports what it saw and how to fix it, and what it could not refund', async () => {
    const bridge = await sinfulBridge('answers another amount as it stands', 'debits replays');
    const settings = { BRIDGE_KEY: KEY_TEXT };
    const given = ['check-bridge', bridge.url, '--agreement', 'GOOD', '--prefix', 'RUN-7-'];
    const { code, stdout } = await perennial(given, settings);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /\n {2}FAIL {2}debit-other-amount: .*\n {8}seen: a debit again with another amountCent: HTTP 200 "SUCCESS"\n {8}store the amount/,
    );
    expect(stdout).toMatch(
      /\nNot given back, look at the institution:\n {2}DEBIT .*\n {2}RUN-7-D\d+ +GOOD +it was debited more than once\n/,
    );
    bridge.pendingFor = Number.POSITIVE_INFINITY;
    const waiting = await perennial([...given.slice(0, 2), '--pending', 'SLOW', '--wait', '0'], settings);
    expect(waiting).toMatchObject({ code: 1, stdout: expect.stringMatching(/\n {2}CB\w+ +SLOW +PENDING\n/) });
    expect(waiting.stdout).toMatch(/\nFAIL {2}--pending was given and was of no use: the debit is still pending/);
    expect(await perennial([...given.slice(0, 2), '--strict'], settings)).toMatchObject({ code: 1 });
    expect(await perennial(given.slice(0, 2), settings)).toMatchObject({ code: 0 });
  });

  it('ends after one request if the bridge does not accept the key, with the reason', async () => {
    const { institution } = await attached();
    const settings = { BRIDGE_KEY: Buffer.alloc(32, 8).toString('base64') };
    const ran = await perennial(['check-bridge', institution.url, '--agreement', 'SHARED-8888'], settings);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain('seen: /debit-query was answered with HTTP 401 "the signature does not match"');
    expect(ran.stdout).toMatch(/\n0 of \d+ rules hold; broken: 1; could not be tried: \d+\n$/);
    expect(ran.stdout).not.toContain('was of no use');
  });

  it('reports a web page or nothing in place of a bridge', async () => {
    const page = { status: 200, type: 'text/plain', body: '\n<!doctype html><title>Sign in</title>' };
    const pages: Readonly<Record<string, typeof page>> = {
      page,
      text: { ...page, type: 'text/html', body: 'Sign in' },
      none: { ...page, status: 404 },
      down: { ...page, status: 503 },
    };
    const server = http.createServer((request, response) => {
      const { status, type, body } = pages[request.url?.split('/')[1] ?? ''] ?? page;
      request.resume();
      response.writeHead(status, { 'content-type': type }).end(body);
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const given = ['--agreement', 'GOOD'];
    const check = (name: string, ...args: string[]) =>
      perennial(['check-bridge', `${url}/${name}`, ...args], { BRIDGE_KEY: KEY_TEXT });
    for (const name of ['page', 'text']) {
      const ran = await check(name, ...given);
      expect(ran.code).toBe(1);
      expect(ran.stdout.match(/(?<=FAIL {2})\S+/g)).toEqual(['content-type:', 'answer-json:']);
      expect(ran.stdout.match(/this is HTML, perhaps a proxy’s or a sign-in page/g)).toHaveLength(2);
      expect(ran.stdout).toMatch(/\nNothing was debited\. The numbers begin with CB/);
    }
    // The rules are still tested, because a bridge may be behind the proxy that answers 503.
    const down = await check('down');
    expect(down.stdout).toMatch(/seen: \/debit-query was answered with HTTP 503; this is HTML/);
    expect(down.stdout).toMatch(/FAIL {2}signature-missing: .*\n {8}seen: \/\S+ without a signature: HTTP 503/);
    const none = await check('none', ...given);
    expect(none.code).toBe(1);
    expect(none.stdout.match(/FAIL {2}.*\n.*/g)).toEqual([
      expect.stringMatching(/^FAIL {2}status-200: .*\n {8}seen: there is no bridge at this path: every /),
    ]);
  });

  it('skips a rule whose option fails, and tests the others', async () => {
    const bridge = await sinfulBridge();
    const taken = new URL(bridge.url).port;
    const given = ['--agreement', 'GOOD', '--pending', 'SLOW', '--listen', taken, '--restart', 'exit 3', '--json'];
    const ran = await perennial(['check-bridge', bridge.url, ...given], { BRIDGE_KEY: KEY_TEXT });
    const { rules, left, useless } = JSON.parse(ran.stdout);
    expect({ code: ran.code, left }).toEqual({ code: 1, left: [] });
    expect(useless).toEqual([
      { option: '--listen', why: expect.stringContaining('EADDRINUSE') },
      { option: '--restart', why: expect.stringContaining('--restart failed') },
    ]);
    const about = (name: string) => rules.find(({ rule }: { readonly rule: string }) => rule === name);
    expect(about('restart')).toMatchObject({ verdict: 'untried', why: expect.stringContaining('--restart failed') });
    expect(about('notice-sent')).toMatchObject({ verdict: 'untried', why: expect.stringContaining('EADDRINUSE') });
    expect(about('pending')).toMatchObject({ verdict: 'holds' });
    expect(about('statement-complete')).toMatchObject({ verdict: 'holds' });
  });

  it('prints neither the key nor the card', async () => {
    const bridge = await sinfulBridge('binds nothing', 'has lines without a time');
    const names = ['bankCardNo', 'certificateNo', 'realName', 'bankMobile'];
    const card = await cardFile(Object.fromEntries(names.map((name) => [name, CARD_NUMBER])));
    const given = ['check-bridge', bridge.url, '--card-file', card, '--sms-code', '1', '--agreement', 'GOOD'];
    for (const args of [given, [...given, '--json']]) {
      const { stdout, stderr } = await perennial(args, { BRIDGE_KEY: KEY_TEXT });
      expect(stdout).toContain('bind-confirm');
      for (const secret of [CARD_NUMBER, KEY_TEXT]) expect(stdout + stderr).not.toContain(secret);
    }
  });

  it('does not print the key even if the bridge quotes it', async () => {
    const key = Buffer.from('b3'.padEnd(64, 'fbff7c'), 'hex');
    const forms = [
      ...(['base64', 'base64url', 'hex'] as const).map((form) => key.toString(form)),
      key.toString('hex').toUpperCase(),
    ];
    const bridge = new BadBridge(key);
    await bridge.start();
    onTestFinished(() => bridge.stop());
    const tell = async (form: string, agreement = 'POOR') => {
      bridge.reason = `not under ${form}.`;
      const given = ['check-bridge', bridge.url, '--agreement', agreement, '--json'];
      const { stdout } = await perennial(given, { BRIDGE_KEY: key.toString('base64') });
      expect(stdout).toContain('not under …');
      const parts = forms.flatMap((one) => [one.slice(0, 16), one.slice(-8)]);
      for (const part of parts) expect(stdout).not.toContain(part);
    };
    await tell(forms.join(' '));
    bridge.refundsNothing = true;
    await tell(forms.join(' '), 'GOOD');
    bridge.sins.add('refuses every key');
    for (const form of forms.flatMap((one) => [one, one.slice(0, 16)])) await tell(form);
  });

  it('exits with 2 and one line if the bridge cannot be tested', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const folder = await temporaryFolder();
    const bad = path.join(folder, 'bad');
    await writeFile(bad, 'not what it should be');
    const key = { BRIDGE_KEY: KEY_TEXT };
    const refusals: [args: string[], settings: Record<string, string>, says: RegExp][] = [
      [[nobody], key, /^perennial: nothing answers at http:.*: ECONNREFUSED$/],
      [[nobody], {}, /key of the bridge is missing: give --key-file, or set BRIDGE_KEY/],
      [[nobody], { BRIDGE_KEY: 'short' }, /BRIDGE_KEY must hold 32 bytes in base64/],
      [[nobody, '--key-file', bad], {}, /bad must hold 32 bytes in base64/],
      [[nobody, '--key-file', path.join(folder, 'none')], {}, /there is no file/],
      [['ftp://bank'], key, /must start with http/],
      [[nobody, '--amount', '0'], key, /--amount must be at least 1/],
      [[nobody, '--prefix', 'a b'], key, /--prefix must be/],
      [[nobody, '--statement-day', 'today'], key, /--statement-day must be yyyy-MM-dd/],
      [[nobody, '--card-file', bad], key, /bad must contain a JSON object/],
      [[nobody, '--declines', 'NEVER=1'], key, /one of RETRYABLE, FINAL, AGREEMENT_INVALID/],
      [[nobody, '--listen', 'here'], key, /port, or address:port/],
      [[nobody, '--unknown'], key, /unknown option/],
      [[], key, /missing required argument/],
    ];
    for (const [args, settings, says] of refusals) {
      const { code, stdout, stderr } = await perennial(['check-bridge', ...args], settings);
      expect({ code, stdout, says: stderr.trimEnd() }).toEqual({
        code: 2,
        stdout: '',
        says: expect.stringMatching(says),
      });
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
    const { code, stderr } = await perennial(['check-bridge', nobody, '--json'], key);
    expect({ code, ...JSON.parse(stderr) }).toEqual({ code: 2, error: expect.stringContaining('nothing answers') });
  });
});
