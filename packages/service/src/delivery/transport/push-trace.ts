import { SpanStatusCode } from '@opentelemetry/api';
import { failSpan, TRACEPARENT, type Tracing, toTraceparent } from '../../platform/tracing.js';
import type { Message, SignedPush } from '../receivers/message.js';
import type { PushClient } from './push-client.js';
import type { PushResult } from './push-result.js';

/**
 * Sends a push under a trace of its own, because the request that created the event may have ended hours ago. Sends the
 * trace in a header that is not signed. Throws what `sign` throws.
 */
export function pushWithTrace(
  tracing: Tracing,
  pushClient: PushClient,
  { eventId, due }: Message,
  url: string,
  sign: () => SignedPush,
): Promise<PushResult> {
  const { span } = tracing.startCall('push', {
    'server.address': new URL(url).origin,
    'perennial.event_id': eventId,
    'perennial.retry_no': due.retryNo,
  });
  const signWithTrace = () => {
    const signed = sign();
    return { ...signed, headers: `${signed.headers}${TRACEPARENT}: ${toTraceparent(span)}\r\n` };
  };
  try {
    return pushClient.push(url, signWithTrace).then((result) => {
      span.setAttribute('perennial.outcome', result.outcome);
      if (result.httpStatus !== null) span.setAttribute('http.response.status_code', result.httpStatus);
      if (result.outcome !== 'ACCEPTED') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
      return result;
    });
  } catch (error) {
    failSpan(span, error);
    throw error;
  }
}
