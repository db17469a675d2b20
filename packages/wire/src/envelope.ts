import { CODES } from './codes.js';
import { Time } from './schemas/common.js';
import { type AnySchema, type Static, Type } from './schemas/type.js';

/** `data` is null on every failure. */
export function Envelope<Data extends AnySchema>(data: Data) {
  return Type.Object({
    code: Type.String(),
    message: Type.String(),
    data: Type.OrNull(data),
    requestId: Type.String(),
    timestamp: Time,
    success: Type.Boolean(),
  });
}

export const AnyEnvelope = Envelope(Type.Unknown());
export type AnyEnvelope = Static<typeof AnyEnvelope>;

/** What stands in an answer before and after its data. Code and timestamp come from this service and hold nothing to escape. */
export function envelopeAround(
  result: { readonly code: string },
  message: string,
  requestId: string,
  timestamp: string,
): { readonly before: string; readonly after: string } {
  return {
    before: `{"code":"${result.code}","message":${JSON.stringify(message)},"data":`,
    after: `,"requestId":${JSON.stringify(requestId)},"timestamp":"${timestamp}","success":${result.code === CODES.SUCCESS.code}}`,
  };
}

/** The response as text, around data that is JSON already: a replayed outcome is sent from what was stored. */
export function envelopeText(
  result: { readonly code: string },
  message: string,
  dataJson: string,
  requestId: string,
  timestamp: string,
): string {
  const { before, after } = envelopeAround(result, message, requestId, timestamp);
  return before + dataJson + after;
}
