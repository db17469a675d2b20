// Finds out what a process of another user can see of a server. This script is passed to Node as text, because that
// user may not be able to read this file.
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [task, text] = process.argv.slice(1);
const say = (found) => process.stdout.write(`${JSON.stringify(found)}\n`);

const attempt = (action) => {
  try {
    action();
    return true;
  } catch {
    return false;
  }
};
/**
 * Returns true if the path can be read and is not empty. Anyone can open `/proc/PID/maps` of an ended process, but it
 * is empty.
 */
const look = (path) =>
  attempt(() => {
    const found = statSync(path).isDirectory() ? readdirSync(path) : readFileSync(path);
    if (found.length === 0) throw new Error('nothing to see');
  });
const opensOf = (pid) => [
  ...['environ', 'maps', 'io'].filter((name) => look(`/proc/${pid}/${name}`)),
  ...['cwd', 'root', 'exe', 'fd/0', 'fd/3'].filter((name) => attempt(() => readlinkSync(`/proc/${pid}/${name}`))),
];

if (task === 'try') {
  const { pids, files } = JSON.parse(text);
  say({
    uid: process.getuid(),
    signalled: pids.filter((pid) => attempt(() => process.kill(pid, 0))),
    read: [...files.filter(look), ...pids.flatMap((pid) => opensOf(pid).map((name) => `${name} of ${pid}`))],
  });
}

if (task === 'watch') {
  const { parent, dataDir } = JSON.parse(text);
  const saw = new Set();
  const read = new Set();
  const watch = () => {
    const others = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
    for (const pid of others) {
      attempt(() => {
        const [, name, , mother] = /^\d+ \((.*)\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
        if (Number(mother) !== parent || statSync(`/proc/${pid}`).uid !== process.getuid()) return;
        saw.add(name);
        for (const opened of opensOf(pid)) read.add(`${opened} of ${name}`);
      });
    }
    attempt(() => {
      for (const name of readdirSync(dataDir)) if (look(join(dataDir, name))) read.add(name);
    });
  };
  const timer = setInterval(watch, 1);
  say('ready');
  process.stdin.resume();
  process.stdin.once('end', () => {
    clearInterval(timer);
    say({ saw: [...saw], read: [...read] });
  });
}
