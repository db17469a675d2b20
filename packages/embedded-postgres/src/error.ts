/** Thrown if the server cannot run for a known reason. The message is for operators. */
export class EmbeddedPostgresError extends Error {}

export function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
