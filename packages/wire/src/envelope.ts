import { CODES } from './codes.js';
import { Time } from './schemas/common.js';
import { type AnySchema, type Static, Type } from './schemas/type.js';

/** Returns the schema of a response. `data` is null in every failure. */
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

/** Returns the envelope's text before and after the data. The code and the timestamp never need escaping. */
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

/** Returns a response whose data is already JSON text, so that stored outcomes are replayed without parsing. */
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
