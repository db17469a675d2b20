import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../support/processes.js';

const PROGRAMS = ['service/bin/perennial.js', 'sdk/bin/perennial-channel.js'];

/** Runs a program in a Node that reports `version`. */
function runUnder(version: string, program: string) {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  return spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(code)}`,
      path.join(packageRoot, '..', program),
      '--version',
    ],
    { encoding: 'utf8' },
  );
}

describe.each(PROGRAMS)('%s', (program) => {
  const { engines } = JSON.parse(readFileSync(path.join(packageRoot, '..', program, '../../package.json'), 'utf8'));
  const [, major, minor] = /\^(\d+)\.(\d+)/.exec(engines.node) ?? [];

  it.each(['18.20.4', `${major}.${Number(minor) - 1}.0`])('in Node %s: names the version that it needs', (version) => {
    const { status, stdout, stderr } = runUnder(version, program);
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      `${path.basename(program, '.js')}: Node ${major}.${minor} or newer is needed, this is ${version}\n`,
    ]);
  });

  it('in the oldest supported Node: runs', () => {
    expect(runUnder(`${major}.${minor}.0`, program)).toMatchObject({ status: 0, stderr: '' });
  });
});
