/** Thrown if the server cannot run. The message is one line for operators. Any other error is a bug. */
export class EmbeddedPostgresError extends Error {}

export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
