import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.js';
import { readDatabaseUrl } from '../../src/platform/db/database-url.js';
import { SettingsError } from '../../src/platform/settings/values.js';
import { freshDatabase } from '../support/database.js';

const BASE = 'postgres://user:s3cret@db.example/perennial';

describe('DATABASE_URL', () => {
  it('names host, port, user, password and database, each decoded', () => {
    expect(readDatabaseUrl('postgresql://us%20er:p%40ss%3A@[::1]:6000/data%2Fbase')).toMatchObject({
      host: '::1',
      port: 6000,
      user: 'us er',
      password: 'p@ss:',
      database: 'data/base',
      ssl: false,
    });
    expect(readDatabaseUrl(BASE)).toMatchObject({ host: 'db.example', port: 5432 });
    expect(readDatabaseUrl('postgres:///perennial?host=/run/postgresql&port=5433')).toMatchObject({
      host: '/run/postgresql',
      port: 5433,
    });
  });

  it.each([
    ['-c search_path=a,b', { search_path: 'a,b' }],
    ['-csearch_path=a  --work-mem=8MB', { search_path: 'a', work_mem: '8MB' }],
    ['-c my.name=with\\ space\\\\', { 'my.name': 'with space\\' }],
  ])('takes settings from options: %s', (options, settings) => {
    expect(readDatabaseUrl(`${BASE}?options=${encodeURIComponent(options)}`).settings).toEqual(settings);
  });

  it('each connection has the settings of options', async () => {
    const fresh = await freshDatabase();
    onTestFinished(() => fresh.close());
    const database = openDatabase({ url: `${fresh.url}?options=-c%20work_mem%3D7MB`, pool: 1, name: 'options' });
    expect(await database.query(`select current_setting('work_mem') as is`)).toEqual([{ is: '7MB' }]);
    await database.close();

    const wrong = openDatabase({ url: `${fresh.url}?options=-c%20work_mem%3Dmuch`, pool: 1, name: 'options' });
    await expect(wrong.query('select')).rejects.toThrow(
      /^DATABASE_URL: the server refused a setting: .*work_mem.*much/,
    );
    await wrong.close();
  });

  it.each([
    ['?options=-c%20timezone%3DUTC', 'options must not contain timezone, because the service sets it'],
    ['?options=-c%20statement_timeout%3D0', 'options must not contain statement_timeout, because the service sets it'],
    ['?options=-c%20lock-timeout%3D1', 'options must not contain lock_timeout, because the service sets it'],
    ['?options=--enable-seqscan%3Don', 'options must not contain enable_seqscan, because the service sets it'],
    ['?options=-c%20client_encoding%3DLATIN1', 'options must not contain client_encoding, because the service sets it'],
    ['?options=-d%205', 'options must be settings such as -c search_path=perennial'],
    ['?options=search_path%3Da', 'options must be settings such as -c search_path=perennial'],
    ['?options=-c', 'options must be settings such as -c search_path=perennial'],
    ['?max=50', 'parameter max is unknown; known are host, port, sslmode, sslrootcert, sslcert, sslkey, options'],
    ['?ssl=true', 'parameter ssl is unknown; known are host, port, sslmode, sslrootcert, sslcert, sslkey, options'],
    ['?port=0', 'port must be a number from 1 to 65535'],
    ['?sslmode=prefer', 'sslmode must be one of disable, require, verify-ca, verify-full'],
    ['?sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['?sslrootcert=/x', 'sslrootcert needs an sslmode of require, verify-ca, verify-full'],
    ['?sslmode=require&sslcert=/x', 'sslcert and sslkey must be set together'],
    [
      '?sslmode=require&sslrootcert=/none',
      "sslrootcert cannot be read: ENOENT: no such file or directory, open '/none'",
    ],
  ])('refuses %s in one line', (query, why) => {
    const read = () => readDatabaseUrl(`${BASE}${query}`);
    expect(read).toThrow(new SettingsError(`DATABASE_URL: ${why}`));
  });

  it('refuses an undecodable URL without repeating it', () => {
    expect(() => readDatabaseUrl('postgres://user:100%@db.example/x')).toThrow(
      'DATABASE_URL: a % must be written as %25',
    );
  });
});
