import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Returns the text of a page by its path from the project's root. */
export async function readPage(name: string): Promise<string> {
  return readFile(path.join(ROOT, name), 'utf8');
}

/** Returns the rows of all tables as cells, without headings. A cell that is one code span loses its backquotes. */
export function tableRows(page: string): string[][] {
  const lines = page.split('\n');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')),
    );
}

/** Returns the rows of the tables under a heading such as `## Retries`, up to the next heading. */
export function rowsUnder(page: string, heading: string): string[][] {
  const [, rest = ''] = page.split(`\n${heading}\n`);
  return tableRows(rest.split(/^#+ /m)[0] ?? '');
}

function isRule(line: string): boolean {
  return /^\|(-+\|)+$/.test(line);
}
