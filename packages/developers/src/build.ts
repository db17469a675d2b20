import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MISTAKES } from '@perennial/wire';
import { changesForChannels } from './changes.js';
import { resetTabs } from './code-blocks.js';
import { type Assets, type NavigationGroup, type Page, renderPage } from './layout.js';
import { describeInterface } from './openapi.js';
import { GUIDES, guidePages } from './pages/guides.js';
import { myChannelPage } from './pages/my-channel.js';
import { referenceNavigation, referencePages } from './pages/reference.js';
import { signaturePage } from './pages/signature.js';
import { notFoundPage, searchPage, startPage } from './pages/start.js';
import { buildSearchIndex } from './search-index.js';
import { gatherVectors } from './vectors.js';

const folder = fileURLToPath(new URL('..', import.meta.url));
const wire = path.join(folder, '..', 'wire');
const changelog = path.join(folder, '..', '..', 'CHANGELOG.md');

/** Writes all pages to `out`. `scripts` are the browser scripts by file name. `clients` are offered for download. */
export function buildPages(
  out: string,
  scripts: Readonly<Record<string, string>>,
  clients: Readonly<Record<string, Buffer>>,
): void {
  resetTabs();
  const made = `${out}.new`;
  rmSync(made, { recursive: true, force: true });
  const write = (name: string, content: string | Buffer) => {
    const place = path.join(made, name);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, content);
  };
  const assets = writeAssets(write, scripts);
  const pages = renderAll();
  for (const page of pages)
    write(`${page.path === '' ? 'index' : page.path}.html`, renderPage(page, navigation(), assets));
  write('search-index.json', JSON.stringify(buildSearchIndex(pages)));
  write('openapi.json', JSON.stringify(describeInterface(version()), null, 2));
  write(
    'vectors.json',
    JSON.stringify(gatherVectors(readFolder(path.join(wire, 'vectors'), '.json', JSON.parse)), null, 2),
  );
  for (const [name, content] of Object.entries(clients)) write(`clients/${name}`, content);
  // Replaces the folder only at the end, so that the old pages stay if the build is interrupted.
  rmSync(out, { recursive: true, force: true });
  renameSync(made, out);
}

/** Writes the assets under names with a content hash, so that browsers can cache them forever. */
function writeAssets(
  write: (name: string, content: string) => void,
  scripts: Readonly<Record<string, string>>,
): Assets {
  const read = (name: string) => readFileSync(path.join(folder, 'assets', name), 'utf8');
  const files = { ...scripts, 'style.css': read('style.css'), 'icon.svg': read('icon.svg') };
  return Object.fromEntries(
    Object.entries(files).map(([name, content]) => {
      const hash = createHash('sha256').update(content).digest('hex').slice(0, 12);
      const hashed = name.replace('.', `.${hash}.`);
      write(`assets/${hashed}`, content);
      return [name, hashed];
    }),
  );
}

/** Returns the files of a folder, each converted by `read`. The keys are the file names without `ending`. */
function readFolder<Content>(place: string, ending: string, read: (text: string) => Content): Record<string, Content> {
  const files = readdirSync(place).filter((file) => file.endsWith(ending));
  return Object.fromEntries(
    files.map((file) => [path.basename(file, ending), read(readFileSync(path.join(place, file), 'utf8'))]),
  );
}

function renderAll(): Page[] {
  const texts = readFolder(path.join(folder, 'guides'), '.md', (one) =>
    one
      .replace('{{encrypted-fields}}', () => showEncryptedFields())
      .replace('{{changes}}', () => changesForChannels(readFileSync(changelog, 'utf8'))),
  );
  const text = (name: string) => texts[name] ?? '';
  return [
    startPage(text('start')),
    ...guidePages(texts),
    ...referencePages(text('reference')),
    signaturePage(text('signature'), MISTAKES),
    myChannelPage(),
    searchPage(),
    notFoundPage(),
  ];
}

const CLIENTS = [
  { tab: 'python tab=Python', file: 'python/perennial.py' },
  { tab: 'java tab=Java', file: 'java/Perennial.java' },
  { tab: 'go tab=Go', file: 'go/perennial.go' },
  { tab: 'php tab=PHP', file: 'php/Perennial.php' },
  { tab: 'sh tab=curl', file: 'sh/perennial.sh' },
];

/** Returns the code of the example clients for encrypted fields, which tests check against the vectors, as Markdown. */
function showEncryptedFields(): string {
  const blocks = CLIENTS.map(({ tab, file }) => {
    const text = readFileSync(path.join(folder, '..', '..', 'examples', file), 'utf8');
    const [, region] = text.split(/region Encrypted fields\n+/);
    const code = region?.split(/\n *(?:#|\/\/) endregion/)[0]?.trimEnd();
    if (code === undefined) throw new Error(`examples/${file} has no region "Encrypted fields"`);
    const [indent = ''] = /^ */.exec(code) ?? [];
    return `\`\`\`${tab}\n${code.replaceAll(new RegExp(`^${indent}`, 'gm'), '')}\n\`\`\``;
  });
  return blocks.join('\n\n');
}

function navigation(): NavigationGroup[] {
  return [
    {
      title: 'Start',
      links: [
        { path: '', title: 'Quick start' },
        { path: 'signature', title: 'Signature diagnosis' },
        { path: 'console', title: 'Your console', note: 'sandbox' },
      ],
    },
    { title: 'Guides', links: GUIDES.map(({ name, title }) => ({ path: `guides/${name}`, title })) },
    { title: 'Reference', links: [{ path: 'reference', title: 'API reference' }] },
    ...referenceNavigation(),
    {
      title: 'Downloads',
      links: [
        { path: 'openapi.json', title: 'OpenAPI 3.1' },
        { path: 'vectors.json', title: 'Test vectors' },
      ],
    },
  ];
}

function version(): string {
  const { version: own } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string };
  return own;
}
