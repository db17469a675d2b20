/** An error answer of the service (application/problem+json): a refusal or an internal error. */
export class Problem extends Error {
  override readonly name = 'Problem';
  constructor(
    readonly status: number,
    /** The last part of the type's URL, such as proof-needed. */
    readonly kind: string,
    readonly title: string,
    readonly detail: string | undefined,
    readonly requestId: string | undefined,
    /** Seconds until a retry makes sense, if the refusal is temporary. */
    readonly retryAfterSeconds: number | undefined,
    /** The refusal's code, by which its text is translated. */
    readonly code: string | null = null,
    /** The values in the refusal's text. */
    readonly values: readonly string[] = [],
  ) {
    super(detail ?? title);
  }
}

/** Thrown if the service did not answer: the network is down, or the service restarts. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Thrown if the files of a page could not be loaded: the network is down, or the service has a new build. */
export class PageMissing extends Unreachable {}

export async function readProblem(response: Response): Promise<Problem> {
  const body: Readonly<Record<string, unknown>> = await response.json().catch(() => ({}));
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : undefined);
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return new Problem(
    response.status,
    text('type')?.split(/[/:#]/).at(-1) ?? '',
    text('title') ?? (response.statusText || `HTTP ${response.status}`),
    text('detail'),
    text('requestId'),
    Number.isFinite(retryAfter) ? retryAfter : undefined,
    response.status === 408 ? 'too-slow' : (text('code') ?? null),
    Array.isArray(body['values']) ? body['values'].map(String) : [],
  );
}

/** Returns true if a change waits for another admin. The first of the error's values is then the approval's number. */
export const isWaiting = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === 'change-waits';

export const isProblem = (error: unknown, ...statuses: readonly number[]): error is Problem =>
  error instanceof Problem && (statuses.length === 0 || statuses.includes(error.status));
