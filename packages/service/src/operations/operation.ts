import { type AnySchema, formatTime, type ObjectSchema, type Static } from '@perennial/wire';
import type { ChannelRegistry } from '../catalog/channels/channel-registry.js';
import type { PushClient } from '../delivery/transport/push-client.js';
import type { FindStep } from '../operator/approvals/carry-out-change.js';
import type { ChosenInput } from '../operator/approvals/changes.js';
import type { CellAsker } from '../operator/cells/ask-cells.js';
import type { Operator, OperatorWithGateways } from '../operator/operator.js';
import type { RefundLimits } from '../operator/orders/refunds/second-person.js';
import type { Role } from '../operator/people/roles.js';
import type { Unchanging } from '../operator/schemas/parts.js';
import { BYTE_ORDER_MARK } from '../platform/csv/csv-field.js';
import type { SafeText } from './command/safe-text.js';

/** The node's services and settings that an operation needs in addition to `OperatorWithGateways`. */
export interface Tools extends RefundLimits {
  readonly channels: ChannelRegistry;
  readonly pushClient: PushClient;
  /** The URL at which operators reach the console. */
  readonly consoleUrl: () => string;
  /** The URL at which channels reach the API. */
  readonly publicUrl: () => string;
  /** The URL at which users reach the redemption page. */
  readonly redeemUrl: () => string;
  /** Reads figures of the other cells. */
  readonly cells: CellAsker;
}

/** The signed-in operator and the services that an operation may use. */
export interface Context extends Tools {
  readonly person: SignedInPerson;
  /** Finds the step of an approved change. */
  readonly findStep: FindStep;
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

/** The input of an operation as one object: the fields in the path's braces, the query and the body. */
export type InputOf<Path extends string, Query, Body> = PathFields<Path> & ValueOf<Query> & ValueOf<Body>;

interface OperationRules {
  /**
   * The roles that may run the operation. Admins may run every operation, and every role may run the operations of
   * viewers.
   */
  readonly role: Role | readonly Role[];
  /**
   * True if the operator must have confirmed their identity within the last minutes, for example to move money or to
   * see a secret.
   */
  readonly needsProof?: boolean;
  /** True if the operation concerns the operator's own session or account. It is then allowed on a read-only node. */
  readonly isOwn?: boolean;
  readonly summary: string;
  readonly maxBodyBytes?: number;
}

/** Formats an amount with the currency of the installation. */
export type MoneyText = (cents: number) => string;

/**
 * An option such as `--rate <n>` or an argument such as `<codes>`, with its description. The field's schema determines
 * how the value is parsed, unless a reader is given. `no` describes the option that sets a flag to false.
 */
export type CommandField = readonly [
  flags: string,
  description: string,
  reader?: CommandReader | { readonly no: readonly [flag: string, description: string] },
];
/** Parses a value. If the value names a file, may return a function that reads the file when the command runs. */
export type CommandReader = (value: string, before?: never) => unknown;

export interface CommandRules<Input, Result> {
  /** Noun, verb and arguments: `channel show <app-id>`. By default, this argument sets the field `appId`. */
  readonly usage: string;
  /** Examples, without the noun. */
  readonly examples: readonly string[];
  /** The options and arguments, by the input field that they set. `limits.rateBurst` names a nested field. */
  readonly fields?: { readonly [Field in keyof Input | `${keyof Input & string}.${string}`]?: CommandField };
  /** Defaults for fields that the console requires and a command may omit. */
  readonly defaults?: { readonly [Field in keyof Input]?: Input[Field] | undefined };
  /** The summary in the help of the command line, if it differs from the summary in the console. */
  readonly summary?: string;
  /**
   * True if the command moves money, or ends or sends something. Such a command is refused with ENGINE=off, and on a
   * copy of the database that was not adopted.
   */
  readonly needsEngine?: boolean;
  /**
   * Set if the command accepts `--cells all`, because its record is the same in all cells. Returns fields that the first
   * cell has chosen, such as a key, as input for the others.
   */
  readonly inCells?: (result: Result) => Readonly<Record<string, unknown>>;
  /** Returns false if the command must exit with code 1. */
  readonly isGood?: (result: Result) => boolean;
  /**
   * Formats the result for a terminal. With --json the result is printed as JSON instead. A list is then printed as an
   * object with the field `items`.
   */
  readonly text: (result: Result, money: MoneyText, input: Input) => string | SafeText;
}

type Run<Input, Result> = (operator: OperatorWithGateways, input: Input, context: Context) => Promise<Result>;

type Shown = Readonly<Record<string, string>>;

/** A change that may need a second admin in production (`NEEDS_SECOND_ADMIN`). Its step only writes to the database. */
export interface SecondPerson<Result, Input = never> {
  /**
   * Returns the input that the step gets, and that is stored until the approval. Runs before the transaction of the
   * step. Needed if the input contains personal data, which must be stored sealed.
   */
  readonly prepare?: (operator: OperatorWithGateways, input: never) => Promise<object>;
  /**
   * Returns the secrets that the step's result contains or gives access to. Called after the commit. If this function
   * is set, the requester carries out the approved change and sees the secrets. They are not stored.
   */
  readonly secrets?: (result: Result, operator: OperatorWithGateways) => Shown | Promise<Shown>;
  /**
   * Returns input fields whose values the step has chosen. The approved change uses the same values. Must replace each
   * secret of the input, because the fields are stored.
   */
  readonly chosen?: (result: Result, input: Input, operator: Operator) => ChosenInput | Promise<ChosenInput>;
}

/** A row of the table of operations: an action in the console, on the command line, or in both. */
export interface Row {
  readonly summary: string;
  readonly secondPerson?: SecondPerson<never>;
  readonly query?: ObjectSchema;
  readonly body?: ObjectSchema;
  readonly command?: CommandRules<never, never>;
  run(operator: OperatorWithGateways, input: never, context: Context): Promise<unknown>;
}

/** An action that the console offers. */
export interface Operation extends Row, OperationRules {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path below /console/api. A name in braces stands for one segment of the path. */
  readonly path: `/${string}`;
  readonly answer: AnySchema;
  /** Converts the step's result to the console's answer, if the two differ. */
  toAnswer?(result: never, context: Context, operator: OperatorWithGateways): unknown;
}

/** An operation with the types of its input and answer, for the console's client. */
export interface TypedOperation<Method extends Operation['method'], Path extends Operation['path'], Input, Answer>
  extends Operation {
  readonly method: Method;
  readonly path: Path;
  /** Only for the compiler. */
  readonly types?: { readonly input: Input; readonly answer: Answer };
}

/** Operations that read are open to all roles by default. Operations that change something must name their roles. */
type RoleRule<Method> = Method extends 'GET' ? Partial<Pick<OperationRules, 'role'>> : Pick<OperationRules, 'role'>;

type Described<Method, Path, Query, Body, Answer> = Omit<OperationRules, 'role'> &
  RoleRule<Method> & {
    readonly method: Method;
    readonly path: Path;
    readonly query?: Query;
    readonly body?: Body;
    readonly answer: Answer;
  };

/** Declares an operation of the console: its roles, input and answer, its step, and its command if it has one. */
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
    readonly secondPerson?: SecondPerson<Result, InputOf<Path, Query, Body>>;
    readonly command?: CommandRules<InputOf<Path, Query, Body>, Result>;
  },
): TypedOperation<Method, Path, InputOf<Path, Query, Body>, Static<Answer>>;
/** Overload for operations without `toAnswer`: the answer is the result of `run`. */
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
    readonly secondPerson?: SecondPerson<Result>;
    readonly command?: CommandRules<InputOf<Path, Query, Body>, Result>;
  },
): TypedOperation<Method, Path, InputOf<Path, Query, Body>, Static<Answer>>;
export function operation(one: object): unknown {
  return { role: 'viewer', ...one };
}

/** An action that only the command line offers. */
export interface CommandRow extends Row {
  readonly method?: never;
}

type Camel<Text extends string> = Text extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : Text;
type ArgumentFields<Usage extends string> = Usage extends `${string}<${infer Name}>${infer Rest}`
  ? { readonly [Field in Camel<Name>]: string } & ArgumentFields<Rest>
  : unknown;

/** Declares a command that the console lacks or has in a different form. `body`: the fields set by options. */
export function command<const Usage extends string, Result, Body extends ObjectSchema | undefined = undefined>({
  summary,
  body,
  run,
  secondPerson,
  ...rules
}: CommandRules<ArgumentFields<Usage> & ValueOf<Body>, Result> & {
  readonly usage: Usage;
  readonly summary: string;
  readonly body?: Body;
  readonly secondPerson?: SecondPerson<Result>;
  readonly run: Run<ArgumentFields<Usage> & ValueOf<Body>, Result>;
}): CommandRow {
  const command = rules as unknown as CommandRules<never, never>;
  return { summary, run, command, ...(body && { body }), ...(secondPerson && { secondPerson }) };
}

/** An answer that is not JSON. Its text is streamed. */
export class FileAnswer {
  constructor(
    readonly name: string,
    readonly type: string,
    readonly pieces: AsyncIterable<string> | readonly string[],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

/** Returns the name of a file by its content, and by the day up to which the content is known. */
export const datedName = ({ clock }: OperatorWithGateways, ...content: readonly string[]): string =>
  `${content.join('-')}-as-of-${formatTime(clock.now()).slice(0, 10)}.csv`;

/** Creates a CSV file. Its byte order mark lets spreadsheets detect UTF-8 when a user opens the file with a click. */
export const createCsvAnswer = (name: string, lines: AsyncIterable<string>): FileAnswer =>
  new FileAnswer(name, 'text/csv; charset=utf-8', withByteOrderMark(lines));

async function* withByteOrderMark(lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK;
  yield* lines;
}
