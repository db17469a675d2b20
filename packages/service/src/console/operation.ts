import type { AnySchema, ObjectSchema, Static } from '@perennial/wire';
import type { OperatorWithGateways } from '../operator/operator.js';
import type { Role } from '../operator/people/roles.js';
import { BYTE_ORDER_MARK } from '../platform/csv/csv-field.js';
import type { Visitor } from './sessions/sign-in.js';
import type { ConsoleTools } from './tools.js';

/** Who asks, and what an operation may use. */
export interface ConsoleContext extends ConsoleTools {
  /** The person is its actor, so the audit log names them. */
  readonly operator: OperatorWithGateways;
  readonly person: SignedInPerson;
  readonly visitor: Visitor;
  readonly requestId: string;
}

export interface SignedInPerson {
  readonly personId: number;
  readonly name: string;
  readonly role: Role;
  readonly sessionId: string;
}

export interface OperationInput<Query, Body> {
  /** The parts of the path that are in braces, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

type ValueOf<Described> = Described extends AnySchema ? Static<Described> : Record<string, never>;

/** What a step answers is not changed any more. */
type Unchanging<T> = T extends readonly (infer One)[]
  ? readonly Unchanging<One>[]
  : T extends object
    ? { readonly [Field in keyof T]: Unchanging<T[Field]> }
    : T;

export interface OperationRules {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /console/api; what is in braces is one part of the path. */
  readonly path: `/${string}`;
  /** Who may: a person of this role or of one of these, or an admin. Everybody has what a viewer may. */
  readonly role: Role | readonly Role[];
  /** Moves money or shows a secret: the person must have proved who they are in the last minutes. */
  readonly needsProof?: boolean;
  /** About one's own session and account: done also on a node that only reads. */
  readonly isOwn?: boolean;
  readonly summary: string;
  readonly maxBodyBytes?: number;
}

/** One operation of the console: who may do it, what it takes, what it answers, and the step that does it. */
export interface Operation extends OperationRules {
  readonly query?: ObjectSchema;
  readonly body?: ObjectSchema;
  readonly answer: AnySchema;
  run(context: ConsoleContext, input: OperationInput<never, never>): Promise<unknown>;
}

export function operation<
  Query extends ObjectSchema | undefined,
  Body extends ObjectSchema | undefined,
  Answer extends AnySchema,
>(
  one: OperationRules & {
    readonly query?: Query;
    readonly body?: Body;
    readonly answer: Answer;
    run(
      context: ConsoleContext,
      input: OperationInput<ValueOf<Query>, ValueOf<Body>>,
    ): Promise<Unchanging<Static<Answer>> | FileAnswer>;
  },
): Operation {
  return one as unknown as Operation;
}

/** An answer that is not JSON: its text goes out piece by piece. */
export class FileAnswer {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly pieces: AsyncIterable<string>,
  ) {}
}

/** For people who open it by a click. */
export const createCsvAnswer = (name: string, lines: AsyncIterable<string>): FileAnswer =>
  new FileAnswer(name, 'text/csv; charset=utf-8', withByteOrderMark(lines));

async function* withByteOrderMark(lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK;
  yield* lines;
}
