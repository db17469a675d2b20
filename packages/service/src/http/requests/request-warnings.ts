import { type AnySchema, CODES, type ObjectSchema } from '@perennial/wire';
import type { Channel } from '../../catalog/channels/channel.js';
import type { JsonObject } from './json-body.js';
import { findNearMiss } from './near-miss.js';

export interface RequestWarningsDeps {
  /** Returns the codes of the products that the channel may sell. */
  readonly listProductCodes: (channel: Channel) => Promise<Iterable<string>>;
}

const MAX_UNKNOWN_FIELDS = 5;

/** Finds probable mistakes that do not change a request's answer. Sandbox only (docs/decisions/0031-the-kit.md). */
export function createRequestWarnings({ listProductCodes }: RequestWarningsDeps) {
  return {
    listUnknownFields: (schema: AnySchema, body: JsonObject): string[] =>
      listUnknown(schema, body, '').slice(0, MAX_UNKNOWN_FIELDS),

    /** Returns what the developer probably did wrong, for result codes that the body can explain. */
    async explain(code: string, channel: Channel, body: JsonObject): Promise<string[]> {
      const { productCode } = body;
      if (!PRODUCT_CODES.has(code) || typeof productCode !== 'string') return [];
      const meant = findNearMiss(productCode, await listProductCodes(channel));
      return meant === undefined ? [] : [`productCode: ${meant} was probably meant`];
    },
  };
}

export type RequestWarnings = ReturnType<typeof createRequestWarnings>;

const PRODUCT_CODES: ReadonlySet<string> = new Set([CODES.PRODUCT_NOT_FOUND.code, CODES.PRODUCT_NOT_AUTHORIZED.code]);

function listUnknown(schema: AnySchema, body: JsonObject, place: string): string[] {
  const { properties } = schema as Partial<ObjectSchema>;
  if (properties === undefined) return [];
  return Object.keys(body).flatMap((name) => {
    const value = body[name];
    const known = properties[name];
    if (known === undefined) return [describeUnknown(place, name, Object.keys(properties))];
    return typeof value === 'object' && value !== null
      ? listUnknown(known, value as JsonObject, `${place}${name}.`)
      : [];
  });
}

function describeUnknown(place: string, name: string, known: readonly string[]): string {
  const meant = findNearMiss(name, known);
  const field = `unknown field ${place}${name.slice(0, 64).replace(/[^\x21-\x7e]/g, '?')}`;
  return meant === undefined ? `${field} is ignored` : `${field} is ignored: ${place}${meant} was probably meant`;
}
