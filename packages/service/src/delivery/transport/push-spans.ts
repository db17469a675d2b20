import { SpanStatusCode } from '@opentelemetry/api';
import { failSpan, TRACEPARENT, type Tracing, traceparentOf } from '../../platform/tracing.js';
import type { Message, SignedPush } from '../receivers/message.js';
import type { PushResult } from './connections.js';

/**
 * A trace for each push: the request that made the event may be hours ago, and has ended. The receiver is told of it by a
 * header that is not signed.
 */
export function pushSpans(tracing: Tracing) {
  return {
    /** `send` is called with what signs the push, and throws what that throws. */
    push(
      { eventId, due }: Message,
      url: string,
      sign: () => SignedPush,
      send: (sign: () => SignedPush) => Promise<PushResult>,
    ): Promise<PushResult> {
      const { span } = tracing.call('push', {
        'server.address': new URL(url).origin,
        'perennial.event_id': eventId,
        'perennial.retry_no': due.retryNo,
      });
      const signWithTrace = () => {
        const signed = sign();
        return { ...signed, headers: `${signed.headers}${TRACEPARENT}: ${traceparentOf(span)}\r\n` };
      };
      try {
        return send(signWithTrace).then((result) => {
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
    },
  };
}
