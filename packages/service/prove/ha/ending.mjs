import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { unmountDisk } from './disks.mjs';
import { isThere, postgresOf, signal } from './signals.mjs';

const PATIENCE_MS = 8_000;

/**
 * Ends a whole stand, whatever state a fault has left it in, and removes its folder. Called by the stand itself, or by
 * the keeper if the stand's process is gone. `release` ends a server that the calling process opened.
 */
export async function endEverything({ processes, dataDirs, disks, folder }, release) {
  const named = (role) => processes.filter((one) => one.role === role);
  const others = processes.filter((one) => one.role !== 'patroni');
  // Continues stopped processes, because a stopped process does not handle SIGTERM.
  signal(processes, 'SIGCONT');
  // Kills Patroni before PostgreSQL, because Patroni would restart it.
  signal(named('patroni'), 'SIGKILL');
  await gone(named('patroni'));
  signal(others, 'SIGTERM');
  if (release !== undefined) {
    if (!(await gone(others))) signal(others, 'SIGKILL');
    await release();
  }
  const servers = dataDirs.flatMap(postgresOf);
  signal(servers, 'SIGCONT');
  // SIGQUIT causes an immediate shutdown. Unlike SIGKILL, it leaves no shared memory behind.
  for (const dataDir of dataDirs) signal(postgresOf(dataDir).slice(0, 1), 'SIGQUIT');
  const left = [...others, ...servers];
  if (!(await gone(left))) signal(left, 'SIGKILL');
  await gone(left);
  for (const disk of disks) await unmountDisk(disk);
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function gone(processes) {
  for (const since = Date.now(); Date.now() - since < PATIENCE_MS; await delay(50)) {
    if (!processes.some(isThere)) return true;
  }
  return false;
}
