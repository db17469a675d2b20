/** A refusal or a fault, as the service words it (application/problem+json). */
export class Problem extends Error {
  override readonly name = 'Problem';
  constructor(
    readonly status: number,
    /** The last part of the type's address, such as proof-needed. */
    readonly kind: string,
    readonly title: string,
    readonly detail: string | undefined,
    readonly requestId: string | undefined,
    /** Of a refusal for now: after how many seconds to ask again. */
    readonly retryAfterSeconds: number | undefined,
    /** Which refusal it is, and what fills its text: by these it is said in other languages. */
    readonly code: string | null = null,
    readonly values: readonly string[] = [],
  ) {
    super(detail ?? title);
  }
}

/** The service did not answer at all: no network, or it is being restarted. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** The files of a page did not come: no network, or the service was built anew. */
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
    text('code') ?? null,
    Array.isArray(body['values']) ? body['values'].map(String) : [],
  );
}

export const isProblem = (error: unknown, ...statuses: readonly number[]): error is Problem =>
  error instanceof Problem && (statuses.length === 0 || statuses.includes(error.status));
