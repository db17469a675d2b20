import { run } from './run.js';

/** Whether the uid has a name: in /etc/passwd, or in whatever else this machine asks. */
export async function hasAccount(uid: number): Promise<boolean> {
  return run('id', [String(uid)]).then(
    () => true,
    () => false,
  );
}

export async function uidOfNobody(): Promise<number> {
  const { stdout } = await run('id', ['-u', 'nobody']).catch(() => ({ stdout: '' }));
  const uid = Number.parseInt(stdout, 10);
  return Number.isInteger(uid) && uid !== 0 ? uid >>> 0 : 65534; // macOS has nobody at -2
}
