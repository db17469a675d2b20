import type { ObjectSchema } from '@perennial/wire';
import { Rejection } from '@perennial/wire';
import type { ValidateFunction } from 'ajv';
import type { FastifyRequest } from 'fastify';
import { isInDigits } from '../../operator/schemas/parts.js';
import { readJsonObject } from '../requests/json-body.js';
import { compileSchema, describeInvalid } from '../requests/validate.js';

export function createReader(of: ObjectSchema): (request: FastifyRequest) => Record<string, unknown> {
  let validate: ValidateFunction | undefined;
  return ({ body, headers }) => {
    // A form on another site can send any text, but not with this content type.
    if (!/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) {
      throw new Rejection('PARAM_INVALID', 'Content-Type must be application/json');
    }
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
    const value = readJsonObject(bytes, headers['content-encoding']);
    validate ??= compileSchema(refuseOtherFields(of) as ObjectSchema);
    if (!validate(value)) throw new Rejection('PARAM_INVALID', describeInvalid(validate.errors?.[0]));
    return value;
  };
}

/** Makes a schema refuse unknown fields, because some fields, such as the approver, are set only by the service. */
function refuseOtherFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(refuseOtherFields);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, refuseOtherFields(part)]));
  return 'properties' in parts ? { additionalProperties: false, ...parts } : parts;
}

/**
 * Reads the query parameters. Converts those that the schema declares with `inDigits` to numbers. Empty parameters
 * count as absent.
 */
export function createQueryReader(
  of: ObjectSchema | undefined,
): (request: FastifyRequest) => Record<string, string | number> {
  let validate: ValidateFunction | undefined;
  const names = new Set(Object.keys(of?.properties ?? {}));
  return ({ raw }) => {
    const query: Record<string, string> = {};
    for (const [name, value] of new URLSearchParams((raw.url ?? '').replace(/^[^?]*\??/, ''))) {
      if (!names.has(name))
        throw new Rejection('PARAM_INVALID', `unknown parameter ${JSON.stringify(name.slice(0, 64))}`);
      if (name in query) throw new Rejection('PARAM_INVALID', `${name} is given twice`);
      if (value.includes('\u0000'))
        throw new Rejection('PARAM_INVALID', `${name} contains a character that is not allowed`);
      if (value !== '') query[name] = value;
    }
    if (!of) return query;
    validate ??= compileSchema(of);
    if (!validate(query)) throw new Rejection('PARAM_INVALID', describeInvalid(validate.errors?.[0]));
    const { properties } = of;
    return Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, isInDigits(properties[name] ?? {}) ? Number(value) : value]),
    );
  };
}
