import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Returns the process's id and start time in clock ticks, because the system reuses ids. Returns undefined if there is
 * no such process.
 */
export function identify(pid) {
  const stat = statOf(pid);
  return stat && { pid: stat.pid, since: stat.since };
}

export const isThere = ({ pid, since }) => statOf(pid)?.since === since;

/** Sends a signal to the processes that still exist. */
export function signal(processes, name) {
  for (const one of processes) {
    if (!isThere(one)) continue;
    try {
      process.kill(one.pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}

/**
 * Returns the processes of a data folder's PostgreSQL. The postmaster is the first in the list, so that it is stopped
 * first: a stopped postmaster starts no more processes.
 */
export function postgresOf(dataDir) {
  const pid = postmasterPid(dataDir);
  const postmaster = pid === undefined ? undefined : identify(pid);
  // The id in the file may now belong to another process. Its command line must name this folder.
  if (postmaster === undefined || !commandOf(pid).includes(dataDir)) return [];
  const others = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat?.parent === pid)
    .map(({ pid: child, since }) => ({ pid: child, since }));
  return [postmaster, ...others];
}

function postmasterPid(dataDir) {
  try {
    const [first] = readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
    return Number(first) > 0 ? Number(first) : undefined;
  } catch {
    return undefined;
  }
}

function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Parses /proc/PID/stat, which proc(5) describes. Reads only the fields after the command's closing bracket; the first
 * of these fields is the state. A zombie counts as gone.
 */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return { pid: Number(pid), parent: Number(fields[1]), since: Number(fields[19]) };
  } catch {
    return undefined;
  }
}
