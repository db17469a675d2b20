import { describe, expect, expectTypeOf, it } from 'vitest';
import { type Static, Type } from '../src/schemas/type.js';

const Person = Type.Object({
  name: Type.String({ maxLength: 9 }),
  age: Type.Optional(Type.Integer({ minimum: 0 })),
  friends: Type.Array(Type.Object({ name: Type.String() }), { maxItems: 2 }),
  isHere: Type.Optional(Type.OrNull(Type.Boolean())),
  notes: Type.Unknown(),
});

describe('a schema', () => {
  it('is JSON Schema and nothing else', () => {
    expect(JSON.parse(JSON.stringify(Person))).toEqual({
      type: 'object',
      required: ['name', 'friends', 'notes'],
      properties: {
        name: { type: 'string', maxLength: 9 },
        age: { type: 'integer', minimum: 0 },
        friends: {
          type: 'array',
          items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          maxItems: 2,
        },
        isHere: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
        notes: {},
      },
    });
  });

  it('without a required field names none', () => {
    expect(Type.Object({ age: Type.Optional(Type.Integer()) })).not.toHaveProperty('required');
  });

  it('has the type of what it describes', () => {
    expectTypeOf<Static<typeof Person>>().toEqualTypeOf<{
      name: string;
      age?: number;
      friends: { name: string }[];
      isHere?: boolean | null;
      notes: unknown;
    }>();
  });
});
