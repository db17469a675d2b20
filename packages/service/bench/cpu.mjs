import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';

export const CAN_MEASURE = process.platform === 'linux';

const ticksPerSecond = CAN_MEASURE ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 0;
const inMicroseconds = (ticks) => (ticks * 1_000_000) / ticksPerSecond;

/** Returns the CPU time of one process so far, in microseconds. */
export function cpuOfProcess(pid) {
  return inMicroseconds(statOf(pid)?.own ?? 0);
}

/** Returns the CPU time of all descendants of a process, including those that have ended. */
export function cpuOfDescendants(pid) {
  const all = descendantsOf(pid).map((id) => statOf(id));
  return inMicroseconds(all.reduce((sum, stat) => sum + (stat ? stat.own + stat.ended : 0), 0));
}

/** Returns the CPU time of a process's ended children. */
export function cpuOfEnded(pid) {
  return inMicroseconds(statOf(pid)?.ended ?? 0);
}

export function descendantsOf(pid) {
  if (!CAN_MEASURE) return [];
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(name))
    .filter((stat) => stat !== undefined);
  const found = [pid];
  for (const parent of found) found.push(...all.filter((stat) => stat.parent === parent).map((stat) => stat.pid));
  return found.slice(1);
}

/**
 * Parses /proc/PID/stat, which proc(5) describes. Reads only the fields after the command's closing bracket; the first
 * of these fields is the state.
 */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent, , , , , , , , , , user, system, endedUser, endedSystem] = fields;
    return { pid: Number(pid), parent, own: user + system, ended: endedUser + endedSystem };
  } catch {
    return undefined;
  }
}

const CORES = os.availableParallelism();

/** True if the load generators can be pinned to the last core and all other processes to the remaining cores. */
export const CAN_PIN = CAN_MEASURE && CORES > 1 && spawnSync('taskset', ['--version']).status === 0;

/**
 * Pins a process and its descendants: a load generator to the last core, any other process to all other cores.
 * Descendants started later inherit the cores.
 */
export function pin(pid, isCaller) {
  if (!CAN_PIN) return;
  const cores = isCaller ? String(CORES - 1) : `0-${CORES - 2}`;
  for (const id of [pid, ...descendantsOf(pid)]) {
    execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(id)], { stdio: 'ignore' });
  }
}
