import { runProgram } from './run-program.js';

/** Whether the uid has a name: in /etc/passwd, or in whatever else this machine asks. */
export async function hasAccount(uid: number): Promise<boolean> {
  return runProgram('id', [String(uid)]).then(
    () => true,
    () => false,
  );
}

export async function findUidOfNobody(): Promise<number> {
  const { stdout } = await runProgram('id', ['-u', 'nobody']).catch(() => ({ stdout: '' }));
  const uid = Number.parseInt(stdout, 10);
  return Number.isInteger(uid) && uid !== 0 ? uid >>> 0 : 65534; // macOS has nobody at -2
}
