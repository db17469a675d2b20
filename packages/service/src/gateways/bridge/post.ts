import type { Dispatcher } from 'undici';

export interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For everything: waiting for a connection, connecting, headers and body. */
  readonly deadlineMs: number;
  /** An answer with a longer body is not read to its end. */
  readonly maxBytes: number;
}

export interface PostAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export class DeadlinePassed extends Error {}
export class AnswerTooLarge extends Error {}

/**
 * One request and its whole answer, which is small. Redirects are not followed. By the callbacks of undici: measured, a stream
 * for the body and an AbortSignal for the deadline were a third of what a call costs.
 */
export function post(pool: Dispatcher, { path, headers, body, deadlineMs, maxBytes }: Post): Promise<PostAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let over: Error | undefined;
    let status = 0;
    let answerHeaders: PostAnswer['headers'] = {};
    const chunks: Buffer[] = [];
    let length = 0;
    const giveUp = (reason: Error) => {
      over = reason;
      clearTimeout(timer);
      controller?.abort(reason);
      reject(reason);
    };
    const timer = setTimeout(() => giveUp(new DeadlinePassed()), deadlineMs);
    pool.dispatch(
      { method: 'POST', path, headers, body },
      {
        onRequestStart(started) {
          controller = started;
          // It has waited too long for a connection: it must not be sent any more.
          if (over) started.abort(over);
        },
        onResponseStart(_, statusCode, given) {
          status = statusCode;
          answerHeaders = given;
        },
        onResponseData(_, chunk) {
          length += chunk.length;
          if (length > maxBytes) giveUp(new AnswerTooLarge());
          else chunks.push(chunk);
        },
        onResponseEnd() {
          clearTimeout(timer);
          const [first, ...rest] = chunks;
          resolve({
            status,
            headers: answerHeaders,
            body: first && rest.length === 0 ? first : Buffer.concat(chunks, length),
          });
        },
        onResponseError(_, error) {
          clearTimeout(timer);
          reject(error);
        },
      },
    );
  });
}
