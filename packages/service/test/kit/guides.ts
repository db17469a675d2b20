import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { EndpointName } from '@perennial/wire';
import { snippetsFor } from '../../../developers/src/snippets.js';
import { ROOT } from '../docs/pages.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/processes.js';
import { ENV, EXAMPLES, type Outcome, outcome, SHORT, serveCgi, TOOLS } from './clients.js';

/** The languages of the guides' tabs, and the files that a reader downloads for each. */
const DOWNLOADS = {
  Node: {},
  Python: { 'perennial.py': 'python/perennial.py' },
  Java: { 'Perennial.java': 'java/Perennial.java', 'Json.java': 'java/Json.java' },
  Go: { 'perennial/perennial.go': 'go/perennial.go' },
  PHP: { 'Perennial.php': 'php/Perennial.php' },
  curl: { 'perennial.sh': 'sh/perennial.sh' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
export type Language = keyof typeof DOWNLOADS;
export const LANGUAGES = Object.keys(DOWNLOADS) as Language[];

/** The folder that the guides' first page tells the reader to create, with the guides' programs pasted into files. */
export interface Shop {
  readonly folder: string;
  /** Runs the program of the first page as the page instructs. */
  order(): Promise<Outcome>;
  /** Runs the examples of the guide on the three ways to sell. The external order numbers begin with the language. */
  sellInThreeWays(): Promise<Outcome>;
  /** Starts the receiver as the guide on events instructs. */
  receive(): Promise<{ readonly url: string; stop(): Promise<void> }>;
}

export async function openShop(folder: string, language: Language, channel: object): Promise<Shop> {
  const put = async (name: string, text: string) => {
    const place = path.join(folder, name);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, text);
  };
  const sh = (command: string) => outcome('sh', ['-c', withTools(command)], { cwd: folder, env: environment(folder) });
  await put('data/demo-channel.json', JSON.stringify(channel));
  for (const [name, source] of Object.entries(DOWNLOADS[language])) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await copyFile(path.join(EXAMPLES, source), path.join(folder, name));
    await chmod(path.join(folder, name), 0o755);
  }
  if (language === 'Node') {
    await mkdir(path.join(folder, 'node_modules'));
    await symlink(path.join(ROOT, 'packages', 'sdk'), path.join(folder, 'node_modules', 'perennial-channel'));
  }
  if (language === 'Go') await put('go.mod', 'module shop\n\ngo 1.19\n');

  const port = await freePort();
  const [, order = '', runOrder = ''] = await blocksOf('start', language);
  const ways = (await blocksOf('three-ways', language)).map((part) => part.replaceAll('own-100', `${language}-100`));
  const whole = WHOLE[language](ways);
  // Skips the compilation, because the first page's command has already compiled the whole folder.
  const [compile = ''] = /javac [^&]*&& /.exec(runOrder) ?? [];
  const [receiver = '', runReceiver = ''] = (await blocksOf('webhooks', language)).map((one) =>
    one.replaceAll('3000', String(port)).replace(compile, ''),
  );
  await put(nameOf(order), order);
  await put(whole.name, whole.text);
  await put(nameOf(receiver), receiver);

  return {
    folder,
    order: () => sh(runOrder),
    sellInThreeWays: () => sh(whole.run),
    async receive() {
      if (language !== 'curl') return serve(withTools(runReceiver), folder, `http://localhost:${port}/events`);
      await sh(runReceiver.replace(/ *#.*/, ''));
      return serveCgi(path.join(folder, nameOf(receiver)), { cwd: folder });
    },
  };
}

/** Returns the code blocks of one language in a guide. */
async function blocksOf(guide: string, language: Language): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'packages', 'developers', 'guides', `${guide}.md`), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`(?:\\w+ tab=${language}|call (\\S+))\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, endpoint, code = '']) => {
    if (endpoint === undefined) return code;
    const snippets = snippetsFor(endpoint as EndpointName, JSON.parse(code));
    return `${snippets.find((one) => one.language === language)?.code}\n`;
  });
}

/** Returns the file name in a program's first comment. */
const nameOf = (program: string): string => /[\w/-]+\.(?:mjs|py|java|go|php|sh)\b/.exec(program)?.[0] ?? '';

const withTools = (command: string): string =>
  command.replaceAll(/(?<![.\w])(?:python3|php|go|javac|java|node)(?= )/g, (name) => TOOLS[name] ?? name);

const environment = (folder: string): NodeJS.ProcessEnv => ({
  ...ENV,
  GOCACHE: path.join(folder, '..', 'go-cache'),
  GOPROXY: 'off',
  JDK_JAVA_OPTIONS: SHORT.join(' '),
  JDK_JAVAC_OPTIONS: SHORT.map((flag) => `-J${flag}`).join(' '),
});

interface Program {
  readonly name: string;
  readonly text: string;
  readonly run: string;
}

/**
 * For each language, joins the guide's code blocks into one program. Each block uses the client that the first page
 * creates.
 */
const WHOLE: Readonly<Record<Language, (parts: readonly string[]) => Program>> = {
  Node: (parts) => ({
    name: 'three-ways.mjs',
    text: [
      "import { readFileSync } from 'node:fs';",
      "import { PerennialClient } from 'perennial-channel';",
      "const perennial = new PerennialClient(JSON.parse(readFileSync('data/demo-channel.json', 'utf8')));",
      ...parts.map((part) => `{\n${part}}`),
    ].join('\n'),
    run: 'node three-ways.mjs',
  }),
  Python: (parts) => ({
    name: 'three_ways.py',
    text: ['from perennial import Channel', 'channel = Channel.read("data/demo-channel.json")', ...parts].join('\n'),
    run: 'python3 three_ways.py',
  }),
  Java: (parts) => ({
    name: 'ThreeWays.java',
    text: [
      'import java.nio.file.Path;',
      'import java.util.Map;',
      'class ThreeWays { public static void main(String[] args) {',
      'var channel = Perennial.read(Path.of("data/demo-channel.json"));',
      ...parts.map((part) => `{\n${part}}`),
      '} }',
    ].join('\n'),
    run: 'java -cp classes ThreeWays',
  }),
  Go: (parts) => ({
    name: 'three-ways/main.go',
    text: [
      'package main',
      'import (\n"log"\n"shop/perennial"\n)',
      'func main() {',
      'channel, err := perennial.Read("data/demo-channel.json")',
      'if err != nil { log.Fatal(err) }',
      ...parts.map((part) => `{\n${part}if err != nil { log.Fatal(order, err) }\n}`),
      '}',
    ].join('\n'),
    run: 'go run ./three-ways',
  }),
  PHP: (parts) => ({
    name: 'three-ways.php',
    text: ["<?php require 'Perennial.php';", "$channel = Perennial::read('data/demo-channel.json');", ...parts].join(
      '\n',
    ),
    run: 'php three-ways.php',
  }),
  curl: (parts) => ({ name: 'three-ways.sh', text: ['set -e', ...parts].join('\n'), run: 'sh three-ways.sh' }),
};

/** Starts a command. `stop` ends it with all its descendants. */
async function serve(command: string, cwd: string, url: string) {
  const child = spawn('sh', ['-c', command], { cwd, env: environment(cwd), detached: true, stdio: 'ignore' });
  await until(`a receiver at ${url}`, async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
    return fetch(url).then(
      () => true,
      () => undefined,
    );
  });
  return { url, stop: () => stopGroup(child) };
}

async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  process.kill(-child.pid);
  await once(child, 'exit');
}
