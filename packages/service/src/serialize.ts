import buildSerializer from 'fast-json-stringify';
import type { Static, TObject, TSchema } from 'typebox';

/** Values of the schema as JSON, with their fields in the schema's order. */
export function serializer<Schema extends TSchema>(schema: Schema): (value: Static<Schema>) => string {
  return compile(schema);
}

/** What stands before and after the items of one array of an object, when there are too many to hold all of them. */
export interface AroundItems<Data> {
  before(data: Data): string;
  after(data: Data): string;
}

export function aroundItems<Schema extends TObject, Field extends string & keyof Static<Schema>>(
  schema: Schema,
  field: Field,
): AroundItems<Omit<Static<Schema>, Field>> {
  const names = Object.keys(schema.properties);
  const at = names.indexOf(field);
  const first = names.slice(0, at);
  const last = names.slice(at + 1);
  const before = compile(withFields(schema, first));
  const after = compile(withFields(schema, last));
  // Each text is an object of its own: where the array comes in, it is left open.
  return {
    before: first.length === 0 ? () => `{"${field}":[` : (data) => `${before(data).slice(0, -1)},"${field}":[`,
    after: last.length === 0 ? () => ']}' : (data) => `],${after(data).slice(1)}`,
  };
}

function withFields({ properties, required }: TObject, names: readonly string[]): object {
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    required: names.filter((name) => required?.includes(name)),
  };
}

function compile(schema: object): (value: unknown) => string {
  return buildSerializer(schema as Parameters<typeof buildSerializer>[0]);
}
