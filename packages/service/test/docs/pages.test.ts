import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { decryptField } from '@perennial/wire';
import { describe, expect, it } from 'vitest';
import { ALERT_KINDS, severityOf } from '../../src/alerts/alerts-sql.js';
import { readSettings } from '../../src/platform/settings.js';
import { formatAttemptNo } from '../../src/subscriptions/domain/orders/order-numbers.js';
import { formatRefundNo } from '../../src/subscriptions/domain/orders/refund-numbers.js';
import { ROOT, readPage, rowsUnder, tableRows } from './pages.js';

describe('links', () => {
  it('lead to files and headings that exist', async () => {
    for (const name of await allPages()) {
      for (const [, target = ''] of (await readPage(name)).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^https?:/.test(target)) continue;
        const [file = '', heading] = target.split('#');
        const there = file === '' ? name : path.join(path.dirname(name), file);
        const text = await readPage(there).catch(() => undefined);
        expect(text, `${name}: ${target}`).toBeDefined();
        if (heading !== undefined) expect(anchorsOf(text ?? ''), `${name}: ${target}`).toContain(heading);
      }
    }
  });

  it('in the list of decisions lead to every decision', async () => {
    const names = (await readdir(path.join(ROOT, 'docs/decisions'))).filter((name) => name !== 'README.md');
    const listed = [...(await readPage('docs/decisions/README.md')).matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(
      ([, name]) => name,
    );
    expect(listed.toSorted()).toEqual(names.toSorted());
  });
});

describe('source files', () => {
  it('exist if a page names them', async () => {
    const packages = (await readdir(path.join(ROOT, 'packages'))).map((name) => `packages/${name}`);
    const places = ['', ...packages.flatMap((one) => [one, `${one}/src`, `${one}/test`])];
    const missing: string[] = [];
    for (const name of await allPages()) {
      for (const [, file = ''] of (await readPage(name)).matchAll(/`((?:[\w-]+\/)+[\w.-]+\.(?:ts|mjs))`/g)) {
        if (!places.some((place) => existsSync(path.join(ROOT, place, file)))) missing.push(`${name}: ${file}`);
      }
    }
    expect(missing).toEqual([]);
  });
});

describe('examples', () => {
  it('put keys, codes and copies of the data folder where git ignores them', async () => {
    const ignored = (await readPage('.gitignore')).split('\n');
    expect(ignored).toContain('data/');
    expect(ignored).toContain('/data*/'); // a copy in the checkout
    for (const name of await allPages()) {
      const written = (await readPage(name)).matchAll(
        /(?:--key-file|cp -a data|import-codes [A-Z_]+|\n' >) ([^\s`,|]+)/g,
      );
      for (const [, place = ''] of written) {
        if (!place.startsWith('<')) expect(place, name).toMatch(/^(data\/|"\$HOME\/)/);
      }
    }
  });
});

describe('commands', () => {
  const OUR_PACKAGES = ['perennial-server', 'perennial-channel', 'perennial-bridge-alipay', 'perennial-bridge-stripe'];

  it('are of our own npm packages: npx fetches a package that is not installed', async () => {
    for (const name of (await allPages()).filter((one) => one !== 'CHANGELOG.md')) {
      const named = [...(await readPage(name)).matchAll(/npx (perennial[\w-]*)/g)].map(([, program]) => program);
      expect(
        [...new Set(named)].filter((one) => !OUR_PACKAGES.includes(one ?? '')),
        name,
      ).toEqual([]);
    }
  });
});

describe('settings', () => {
  const asked = new Set<string>();
  const env = { MASTER_KEY: Buffer.alloc(32).toString('base64') };
  readSettings(
    new Proxy<Record<string, string | undefined>>(env, {
      get: (of, name) => asked.add(String(name)) && of[String(name)],
    }),
  );

  it('are exactly those of docs/configuration.md', async () => {
    const rows = tableRows(await readPage('docs/configuration.md'));
    expect(rows.map(([variable]) => variable).toSorted()).toEqual([...asked].toSorted());
  });
});

describe('docs/alerts.md', () => {
  it('lists exactly the kinds of alerts with their severities', async () => {
    const rows = rowsUnder(await readPage('docs/alerts.md'), '## All alerts');
    expect(rows.map(([kind, severity]) => [kind, severity])).toEqual(
      ALERT_KINDS.map((kind) => [kind, severityOf(kind)]),
    );
  });
});

describe('docs/reconciliation.md', () => {
  it('has a debit and a refund of the order on the command line page in its example file', async () => {
    const commandLine = await readPage('docs/command-line.md');
    const orderNo = Number(/perennial-server order refund (\d+) /.exec(commandLine)?.[1]);
    const lines = [...(await readPage('docs/reconciliation.md')).matchAll(/^(DEBIT|REFUND),(\w+),.*$/gm)];
    expect(lines.map(([, , number]) => number)).toEqual([
      formatAttemptNo(orderNo, 1, 1),
      formatRefundNo({ orderNo, cycleNo: 1, refundSeq: 1 }),
    ]);
  });
});

describe('the guide to signing', () => {
  it('has the same worked example as the test vectors', async () => {
    const page = await readPage('packages/developers/guides/signing.md');
    const { appSecret, cases } = JSON.parse(await readPage('packages/wire/vectors/request-signature.json'));
    const [{ bodyHex, signText, signature }] = cases;
    for (const text of [appSecret, Buffer.from(bodyHex, 'hex').toString(), signText, signature])
      expect(page).toContain(text);
  });

  it.each(['encrypted-fields', 'encrypted-fields-v2'])(
    "has code for Node that reads and writes the vectors' %s",
    async (name) => {
      const page = await readPage('packages/developers/guides/signing.md');
      const [, code = ''] = /```js tab=Node\n(import \{ createCipheriv[\s\S]*?)```/.exec(page) ?? [];
      const { encrypt, decrypt } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
      const { aesKey, good } = JSON.parse(await readPage(`packages/wire/vectors/${name}.json`));
      for (const { text, value } of good) {
        expect(decrypt(aesKey, value)).toBe(text);
        expect(decryptField(encrypt(aesKey, text, value.slice(0, 11)), Buffer.from(aesKey, 'base64'))).toBe(text);
      }
    },
  );
});

async function allPages(): Promise<string[]> {
  const inDocs = await readdir(path.join(ROOT, 'docs'), { recursive: true });
  const pages = inDocs.filter((name) => name.endsWith('.md')).map((name) => path.join('docs', name));
  const inPackages = [
    'packages/bridge-kit/README.md',
    'packages/service/README.md',
    'packages/wire/README.md',
    'packages/embedded-postgres/README.md',
    'packages/reference-peers/README.md',
    'packages/sdk/README.md',
    'examples/README.md',
    'examples/shop/README.md',
    'packages/service/src/platform/http-client/README.md',
    'packages/service/test/abuse/README.md',
  ];
  return ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...inPackages, ...pages];
}

function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
