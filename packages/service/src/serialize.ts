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
  const before = fieldsText(schema, names.slice(0, at));
  const after = fieldsText(schema, names.slice(at + 1));
  return {
    before: (data) => `{${endedBy(',', before(data))}"${field}":[`,
    after: (data) => {
      const text = after(data);
      return text === '' ? ']}' : `],${text}}`;
    },
  };
}

/** These fields as they stand between the braces of their object. */
function fieldsText(schema: TObject, names: readonly string[]): (data: object) => string {
  if (names.length === 0) return () => '';
  const properties = Object.fromEntries(names.map((name) => [name, schema.properties[name]]));
  const required = (schema.required ?? []).filter((name) => names.includes(name));
  const serialize = compile({ type: 'object', properties, required });
  return (data) => serialize(data).slice(1, -1);
}

const endedBy = (mark: string, text: string) => (text === '' ? '' : text + mark);

function compile(schema: object): (value: unknown) => string {
  return buildSerializer(schema as Parameters<typeof buildSerializer>[0]);
}
