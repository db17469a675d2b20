import { readFile } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { createNodeReceiver } from 'perennial-channel';
import { describe, expect, it } from 'vitest';
import { ofFile } from '../orders/stage-of-file.js';
import { listen } from '../support/listen.js';
import { kitService } from './support.js';

const kit = ofFile(kitService);

/** Starts a receiver that counts its effects. `once`: it processes each event once. */
async function startReceiver(once: boolean) {
  const effects = new Map<string, number>();
  const { callbackSecret } = kit.credentials;
  const handle = createNodeReceiver({
    callbackSecret,
    path: '/events',
    ...(once ? {} : { store: { remember: async () => 'new' as const, forget: async () => undefined } }),
    onEvent: ({ eventId }) => void effects.set(eventId, (effects.get(eventId) ?? 0) + 1),
    onError: () => undefined,
  });
  const port = await listen(
    http.createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
      if (pathname === '/effects') response.end(String(effects.get(searchParams.get('eventId') ?? '') ?? 0));
      else void handle(request, response);
    }),
  );
  const address = `http://127.0.0.1:${port}`;
  return { url: `${address}/events`, effects: `${address}/effects` };
}

const check = async (url: string, ...more: string[]) => {
  const file = path.join(kit.folder, 'report.html');
  const outcome = await kit.run(['go-live-check', url, '--json', '--out', file, ...more]);
  return { ...outcome, report: await readFile(file, 'utf8') };
};

interface Finding {
  readonly subject: string;
  readonly isMet: boolean | null;
}
const subjectsOf = (findings: readonly Finding[], isMet: boolean | null) =>
  findings.filter((one) => one.isMet === isMet).map(({ subject }) => subject);

describe('go-live-check', () => {
  it('names what is not proven: delivery without a callback address, de-duplication without --effects', async () => {
    const { url } = await startReceiver(true);
    const { status, json, report } = await check(url);
    expect([status, json.ok, subjectsOf(json.findings, false)]).toEqual([1, false, []]);
    expect(subjectsOf(json.findings, null)).toEqual(['Delivery', 'De-duplication']);
    expect(new Set(subjectsOf(json.findings, true))).toEqual(
      new Set(['Signature', 'Clock', 'Idempotency', 'Receiver', 'Retries']),
    );
    expect(report).toContain('<h1>Go-live report</h1>');
    expect(report).toContain(kit.credentials.appId);
    expect(report).not.toMatch(/<script|https?:\/\/(?!127\.0\.0\.1)/);
    for (const secret of [kit.credentials.appSecret, kit.credentials.aesKey, kit.credentials.callbackSecret])
      expect(report).not.toContain(secret);
  });

  it('proves de-duplication with --effects, in mode A too, and finds a receiver without it', async () => {
    const good = await startReceiver(true);
    const proven = await check(good.url, '--effects', good.effects, '--settlement-mode', 'SVC_DEDUCT');
    expect(subjectsOf(proven.json.findings, null)).toEqual(['Delivery']);
    const bad = await startReceiver(false);
    const { status, json } = await check(bad.url, '--effects', bad.effects);
    expect([status, subjectsOf(json.findings, false)]).toEqual([1, ['Retries', 'De-duplication']]);
  });
});
