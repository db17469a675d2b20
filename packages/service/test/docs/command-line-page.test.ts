import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCommandLine } from '../../src/cli/frame/command.js';
import { createProgram } from '../../src/cli/program.js';
import { readPage, tableRows } from './pages.js';

/** Commands such as `channel show <app-id>`, with their options, from the program's help. */
const commands = new Map<string, Set<string>>();
let nouns: string[] = [];
let page = '';
let program: Command;

beforeAll(async () => {
  page = await readPage('docs/command-line.md');
  program = await createProgram(NOWHERE, undefined, () => undefined);
  const terms = termsOf(help());
  nouns = terms.map(firstWord);
  for (const term of terms) {
    const noun = firstWord(term);
    const text = help(noun);
    const verbs = termsOf(text);
    // A noun without verbs is itself a command.
    if (verbs.length === 0) commands.set(term, optionsIn(text));
    for (const verb of verbs) commands.set(`${noun} ${verb}`, optionsIn(help(noun, firstWord(verb))));
  }
});

describe('docs/command-line.md', () => {
  it('lists exactly the commands, with their arguments', () => {
    const listed = tableRows(page).map(([command]) => command);
    expect(listed.toSorted()).toEqual([...commands.keys()].toSorted());
  });

  it('names exactly the options of each noun', () => {
    for (const noun of nouns) {
      const text = page.split(/^## /m).find((section) => new RegExp(`^\\| \`${noun}[ \`]`, 'm').test(section)) ?? '';
      // Takes all commands of the section, because several nouns can share one section.
      const listed = tableRows(text).map(([command]) => command);
      const known = [...commands]
        .filter(([command]) => listed.includes(command))
        .flatMap(([, options]) => [...options]);
      expect([...optionsIn(text)].toSorted(), noun).toEqual([...new Set(known)].toSorted());
    }
  });

  it('has the same retry defaults as the help', () => {
    const text = help('product', 'create').replaceAll(/\s+/g, ' ');
    const [, days, months] = /\(default: (\S+) for DAY, (\S+) for MONTH\)/.exec(text) ?? [];
    expect(page.replaceAll(/\s+/g, ' ')).toContain(`(default: \`${days}\` for DAY, \`${months}\` for MONTH)`);
  });
});

const NOWHERE = createCommandLine({
  env: {},
  stdout: process.stdout,
  stderr: process.stderr,
  setFailed: () => undefined,
});

/** Returns the output of `perennial noun verb --help`. */
function help(...words: readonly string[]): string {
  let command = program;
  for (const word of words) {
    const found = command.commands.find((one) => one.name() === word);
    if (!found) throw new Error(`there is no command ${words.join(' ')}`);
    command = found;
  }
  return command.helpInformation();
}

/** Returns the entries under "Commands:", with their arguments and without their descriptions. */
function termsOf(text: string): string[] {
  const [, list = ''] = text.split(/^Commands:$/m);
  return [...list.matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)]
    .map(([, term = '']) => term.replace(' [options]', ''))
    .filter((term) => firstWord(term) !== 'help' && !term.startsWith('$'));
}

/** Returns the options in a text, except those that every command has. */
function optionsIn(text: string): Set<string> {
  const found = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([option]) => option);
  return new Set(found.filter((option) => option !== '--json' && option !== '--help'));
}

function firstWord(text: string): string {
  return text.split(' ', 1)[0] ?? '';
}
