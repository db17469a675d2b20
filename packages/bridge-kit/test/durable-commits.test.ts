import { expect, inject, it } from 'vitest';
import { openBookDatabase } from '../src/book/database.js';

it.each([
  ['off', 'on'],
  ['local', 'on'],
  ['remote_apply', 'remote_apply'],
])('where the server says synchronous_commit %s, the book is written with %s', async (said, is) => {
  const url = new URL(inject('bookUrl'));
  url.searchParams.set('options', `-c synchronous_commit=${said}`);
  const book = await openBookDatabase({
    url: url.href,
    schema: `commits_${said}`,
    institution: 'test',
    pool: 1,
    onLost: () => undefined,
  });
  try {
    expect(await book.query(`select current_setting('synchronous_commit') as is`)).toEqual([{ is }]);
  } finally {
    await book.query(`drop schema commits_${said} cascade`);
    await book.close();
  }
});
