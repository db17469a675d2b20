import { createHmac } from 'node:crypto';

/** A receiver that the operator has configured, with the secret that signs its messages. */
export interface SignedReceiver {
  readonly url: string;
  readonly secret: string;
}

/**
 * Posts a JSON body and returns the status of the answer. The signature is HMAC-SHA256 over the timestamp header, a dot
 * and the body's bytes. The timestamp is signed to prevent replays of old messages.
 */
export async function postSigned(
  { url, secret }: SignedReceiver,
  body: string,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  const timestamp = String(Math.floor(now / 1000));
  const answer = await fetch(url, {
    method: 'POST',
    // Redirects are not followed, because the operator has not configured their target.
    redirect: 'manual',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'x-perennial-timestamp': timestamp,
      'x-perennial-signature': createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex'),
    },
    body,
    signal,
  });
  await answer.body?.cancel();
  return answer.status;
}
