import type { AnySchema, ObjectSchema, Static } from '@perennial/wire';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { PushClient } from '../delivery/transport/push-client.js';
import type { OperatorWithGateways } from '../operator/operator.js';
import type { Role } from '../operator/people/roles.js';
import type { Unchanging } from '../operator/schemas/parts.js';
import { BYTE_ORDER_MARK } from '../platform/csv/csv-field.js';
import type { SafeText } from './command/safe-text.js';

/** What operations need of the node they run on, beside the operator's own. */
export interface Tools {
  readonly channels: ChannelRegistry;
  readonly pushClient: PushClient;
  /** Where people reach the console. */
  readonly consoleUrl: () => string;
  /** Where channels reach the interface. */
  readonly publicUrl: () => string;
  /** Refunds above this need a second person; 0: none does. */
  readonly refundApprovalCent: number;
}

/** Who asks, and what an operation may use. The operator is an argument of its own, as it is of every step. */
export interface Context extends Tools {
  readonly person: SignedInPerson;
}

export interface SignedInPerson {
  readonly personId: number;
  readonly name: string;
  readonly role: Role;
  readonly sessionId: string;
}

type ValueOf<Described> = Described extends AnySchema ? Static<Described> : unknown;
type PathFields<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Field in Name]: string } & PathFields<Rest>
  : unknown;

/** One object with the parts of the path that are in braces, the query and the body. */
export type InputOf<Path extends string, Query, Body> = PathFields<Path> & ValueOf<Query> & ValueOf<Body>;

interface OperationRules {
  /** Who may: a person of this role or of one of these, or an admin. Everybody has what a viewer may. */
  readonly role: Role | readonly Role[];
  /** Moves money or shows a secret: the person must have proved who they are in the last minutes. */
  readonly needsProof?: boolean;
  /** About one's own session and account: done also on a node that only reads. */
  readonly isOwn?: boolean;
  readonly summary: string;
  readonly maxBodyBytes?: number;
}

/** Writes an amount with the currency of the installation. */
export type MoneyText = (cents: number) => string;

/**
 * How a field is given on the command line: by an option such as `--rate <n>`, or an argument such as `<codes>`, and what it means.
 * The field's schema says how its value is read, unless a reader is given. `no` is the option that makes a flag false.
 */
export type CommandField = readonly [
  flags: string,
  description: string,
  reader?: CommandReader | { readonly no: readonly [flag: string, description: string] },
];
/** Of null, and of what is in a file, it answers a function by which the value is found once the command runs. */
export type CommandReader = (value: string, before?: never) => unknown;

/** The command of an operation. */
export interface CommandRules<Input, Result> {
  /** Noun, verb and arguments: `channel show <app-id>`. An argument is the field appId, unless `fields` has it. */
  readonly usage: string;
  /** What follows the noun in each. */
  readonly examples: readonly string[];
  /** By the names of the input's fields; `limits.rateBurst` is a field of a field. */
  readonly fields?: { readonly [Field in keyof Input | `${keyof Input & string}.${string}`]?: CommandField };
  /** Of fields that the console must give, and a command may leave out. */
  readonly defaults?: { readonly [Field in keyof Input]?: Input[Field] | undefined };
  /** The help's words, where those of the console would not do. */
  readonly summary?: string;
  /** Moves money, ends something or sends something: refused with ENGINE=off and on a copy that was not adopted. */
  readonly needsEngine?: boolean;
  /** Exit code 1 otherwise. */
  readonly isGood?: (result: Result) => boolean;
  /** The result for people; with --json it is printed as it is, and a list as `items`. */
  readonly text: (result: Result, money: MoneyText, input: Input) => string | SafeText;
}

type Run<Input, Result> = (operator: OperatorWithGateways, input: Input, context: Context) => Promise<Result>;

/** A row of the table: what the console, the command line or both can do. */
export interface Row {
  readonly summary: string;
  readonly query?: ObjectSchema;
  readonly body?: ObjectSchema;
  readonly command?: CommandRules<never, never>;
  run(operator: OperatorWithGateways, input: never, context: Context): Promise<unknown>;
}

/** A row that the console has. */
export interface Operation extends Row, OperationRules {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /console/api; what is in braces is one part of the path. */
  readonly path: `/${string}`;
  readonly answer: AnySchema;
  /** The console's answer, where the step's result is not it. */
  toAnswer?(result: never, context: Context, operator: OperatorWithGateways): unknown;
}

/** The same with the types of its input and answer, for the console's client. */
export interface TypedOperation<Method extends Operation['method'], Path extends Operation['path'], Input, Answer>
  extends Operation {
  readonly method: Method;
  readonly path: Path;
  /** For the compiler alone. */
  readonly types?: { readonly input: Input; readonly answer: Answer };
}

/** What only reads is for everybody unless it has a role; what changes something must have one. */
type RoleRule<Method> = Method extends 'GET' ? Partial<Pick<OperationRules, 'role'>> : Pick<OperationRules, 'role'>;

type Described<Method, Path, Query, Body, Answer> = Omit<OperationRules, 'role'> &
  RoleRule<Method> & {
    readonly method: Method;
    readonly path: Path;
    readonly query?: Query;
    readonly body?: Body;
    readonly answer: Answer;
  };

/** An operation of the console: who may do it, what it takes and answers, the step that does it, and its command if it has one. */
export function operation<
  const Method extends Operation['method'],
  const Path extends Operation['path'],
  Answer extends AnySchema,
  Result,
  Query extends ObjectSchema | undefined = undefined,
  Body extends ObjectSchema | undefined = undefined,
>(
  one: Described<Method, Path, Query, Body, Answer> & {
    readonly run: Run<InputOf<Path, Query, Body>, Result>;
    readonly toAnswer: (
      result: Result,
      context: Context,
      operator: OperatorWithGateways,
    ) => Unchanging<Static<Answer>> | Promise<Unchanging<Static<Answer>>>;
    readonly command?: CommandRules<InputOf<Path, Query, Body>, Result>;
  },
): TypedOperation<Method, Path, InputOf<Path, Query, Body>, Static<Answer>>;
/** The same where the step's result is the answer. */
export function operation<
  const Method extends Operation['method'],
  const Path extends Operation['path'],
  Answer extends AnySchema,
  Result extends Unchanging<Static<Answer>> | FileAnswer,
  Query extends ObjectSchema | undefined = undefined,
  Body extends ObjectSchema | undefined = undefined,
>(
  one: Described<Method, Path, Query, Body, Answer> & {
    readonly run: Run<InputOf<Path, Query, Body>, Result>;
    readonly command?: CommandRules<InputOf<Path, Query, Body>, Result>;
  },
): TypedOperation<Method, Path, InputOf<Path, Query, Body>, Static<Answer>>;
export function operation(one: object): unknown {
  return { role: 'viewer', ...one };
}

/** A row that the console does not have. */
export interface CommandRow extends Row {
  readonly method?: never;
}

type Camel<Text extends string> = Text extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Text;
type ArgumentFields<Usage extends string> = Usage extends `${string}<${infer Name}>${infer Rest}`
  ? { readonly [Field in Camel<Name>]: string } & ArgumentFields<Rest>
  : unknown;

/** A command that the console does not have, or has in another form. What is no argument is described by `body`. */
export function command<const Usage extends string, Result, Body extends ObjectSchema | undefined = undefined>({
  summary,
  body,
  run,
  ...rules
}: CommandRules<ArgumentFields<Usage> & ValueOf<Body>, Result> & {
  readonly usage: Usage;
  readonly summary: string;
  readonly body?: Body;
  readonly run: Run<ArgumentFields<Usage> & ValueOf<Body>, Result>;
}): CommandRow {
  return { summary, run, command: rules as unknown as CommandRules<never, never>, ...(body && { body }) };
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
