import { createNodeReceiver, type NodeRequest, type NodeResponse } from './node.js';
import type { ReceiverOptions } from './receive.js';

export type ExpressReceiver = (
  request: NodeRequest,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

/** Creates a handler for `app.post('/events', receiver)`. Register it before express.json(), which reads the body. */
export function createExpressReceiver<AesKey extends string | undefined = undefined>(
  options: ReceiverOptions<AesKey>,
): ExpressReceiver {
  const receiver = createNodeReceiver(options);
  return (request, response, next) => receiver(request, response).catch(next);
}
