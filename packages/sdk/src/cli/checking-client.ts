import { ENDPOINTS, type EndpointName } from '@perennial/wire';
import type { AnswerOf, BodyOf } from '../bodies.js';
import { PerennialClient, type WholeAnswer } from '../client.js';
import { PerennialConnectionError } from '../errors.js';
import { notTheService } from '../exchange.js';
import type { CallOptions } from '../methods.js';
import { findMisfit } from './shape.js';

/** For commands that go by what is in an answer, in place of only showing it: one without it is no answer of the service. */
export class CheckingClient extends PerennialClient {
  override async send<Name extends EndpointName>(
    name: Name,
    body: BodyOf<Name>,
    options?: CallOptions,
  ): Promise<WholeAnswer<AnswerOf<Name>>> {
    const answer = await super.send(name, body, options);
    const misfit = findMisfit(ENDPOINTS[name].response, answer.data, 'data');
    if (misfit === undefined) return answer;
    const message = notTheService(answer.httpStatus, misfit);
    throw new PerennialConnectionError({ ...answer, endpoint: name, reason: 'unreadable-answer', message });
  }
}
