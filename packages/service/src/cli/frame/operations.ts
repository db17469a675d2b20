import { Argument, type Command, Option } from 'commander';
import { appendList, parseWholeNumber } from '../../operations/command/parse.js';
import type { CommandField, CommandReader, CommandRules, Context, Row } from '../../operations/operation.js';
import { runRow, WITHOUT_APPROVAL } from '../../operations/second-person.js';
import { refuseWrittenNumbers } from '../../operator/masking.js';
import type { OperatorWithGateways } from '../../operator/operator.js';
import { PlainError } from '../../platform/plain-error.js';
import type { Settings } from '../../platform/settings.js';
import { performInCells } from './cells.js';
import { actorName, addCommand, type CommandLine, type JsonOption } from './command.js';

type Given = Readonly<Record<string, unknown>>;

/**
 * Adds the command of a table row to its noun. The rules define the options, and the row's schemas determine how
 * options are parsed.
 */
export function addRow(noun: Command, row: Row, rules: CommandRules<never, never>, commandLine: CommandLine): void {
  const [, verb = '', ...argumentNames] = rules.usage.split(' ');
  const made = addCommand(noun, verb, toHelp(rules.summary ?? row.summary), rules.examples);
  const fields = Object.entries((rules.fields ?? {}) as Readonly<Record<string, CommandField>>);
  const argumentFields = argumentNames.map((name) => {
    const [field, given] = fields.find(([, [flags]]) => flags === name) ?? [toFieldName(name), [name, '']];
    made.addArgument(new Argument(name, given[1]).argParser(readerOf(row, field, given[2])));
    return field;
  });
  const optionFields = fields.filter(([, [flags]]) => flags.startsWith('-'));
  for (const [field, given] of optionFields) {
    const isNeeded = isRequired(row, field) && !Object.hasOwn(rules.defaults ?? {}, field);
    for (const option of optionsOf(row, field, given)) made.addOption(option.makeOptionMandatory(isNeeded));
  }
  if (row.secondPerson) made.option('--without-approval <text>', WITHOUT_APPROVAL);
  if (rules.inCells) made.addOption(new Option('--cells <cells>', 'in all cells of CELLS_FILE').choices(['all']));
  made.action(async (...given: readonly unknown[]) => {
    const options = given[argumentNames.length] as JsonOption & Given;
    const values = [
      ...argumentFields.map((field, at) => [field, given[at]] as const),
      ...optionFields.map(([field, one]) => [field, givenBy(options, row, field, one)] as const),
    ];
    const input = { ...(rules.defaults as object | undefined), ...(await toInput(row, values)) } as never;
    refuseWrittenNumbers(input);
    const { withoutApproval, cells } = options as { readonly withoutApproval?: string; readonly cells?: 'all' };
    if (cells) {
      const run = (operator: OperatorWithGateways, given: never, consoleUrl: string | undefined) =>
        runRow(row, operator, given, contextOf(commandLine, consoleUrl), { withoutApproval });
      return performInCells(commandLine, options, rules, input, run);
    }
    const perform = rules.needsEngine ? commandLine.performWithEngine : commandLine.perform;
    await perform(
      options,
      async (operator) => {
        const result = await runRow(row, operator, input, contextOf(commandLine), { withoutApproval });
        return (Array.isArray(result) ? { items: result } : result) as { readonly items?: unknown };
      },
      (result, money) => rules.text((Array.isArray(result.items) ? result.items : result) as never, money, input),
      (result) => rules.isGood?.(result as never) ?? true,
    );
  });
}

/** Converts `<app-id>` to the field appId. */
const toFieldName = (name: string) =>
  name.replaceAll(/[^\w-]/g, '').replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

const toHelp = (summary: string) => summary.charAt(0).toLowerCase() + summary.slice(1);

function optionsOf(row: Row, field: string, [flags, description, more]: CommandField): Option[] {
  const option = new Option(flags, description);
  const reader = readerOf(row, field, more);
  if (reader && option.required) option.argParser(reader);
  if (typeof more !== 'object') return [option];
  const not = new Option(...more.no);
  return [option, not.negate ? not : not.conflicts(option.attributeName())];
}

/** Returns the value of a field, from the field's own option or from the option that negates that option. */
function givenBy(options: Given, row: Row, field: string, given: CommandField): unknown {
  const [option, not] = optionsOf(row, field, given);
  const value = options[option?.attributeName() ?? ''];
  if (not && !not.negate && options[not.attributeName()]) return false;
  // A flag such as --password-stdin has no value, so its parser reads the value from elsewhere.
  return value === true && typeof given[2] === 'function' ? given[2]('') : value;
}

function schemaOf({ query, body }: Row, field: string): Readonly<Record<string, unknown>> {
  const [name = '', part] = field.split('.');
  const fields: Readonly<Record<string, object>> = { ...query?.properties, ...body?.properties };
  const schema = (fields[name] ?? {}) as Readonly<Record<string, unknown>>;
  return part === undefined
    ? schema
    : ((schema['properties'] as Readonly<Record<string, object>>)[part] as typeof schema);
}

const isRequired = ({ query, body }: Row, field: string) =>
  [...(query?.required ?? []), ...(body?.required ?? [])].includes(field);

const isNullable = (schema: object) => 'anyOf' in schema;

/**
 * Returns the parser of a field: the row's own parser, or a parser for the type in the schema. The parser returns the
 * text `none` unchanged if the field is nullable.
 */
function readerOf(row: Row, field: string, own: CommandField[2]): (value: string, before: unknown) => unknown {
  const schema = schemaOf(row, field);
  const [inner = schema] = (schema['anyOf'] ?? []) as readonly (typeof schema)[];
  const byType: Readonly<Record<string, CommandReader>> = {
    integer: parseWholeNumber,
    array: appendList as CommandReader,
  };
  const read = typeof own === 'function' ? own : byType[String(inner['type'])];
  return (value, before) =>
    read === undefined || (isNullable(schema) && value === 'none') ? value : read(value, before as never);
}

/** Builds the input of a step. Reads values from files, and stores `a.b` as field b of a. */
async function toInput(row: Row, values: readonly (readonly [string, unknown])[]): Promise<Given> {
  const input: Record<string, unknown> = {};
  for (const [field, given] of values) {
    if (given === undefined) continue;
    const read = typeof given === 'function' ? await given() : given;
    const value = read === 'none' && isNullable(schemaOf(row, field)) ? null : read;
    const [name = '', part] = field.split('.');
    input[name] = part === undefined ? value : { ...(input[name] as object), [part]: value };
  }
  return input;
}

/**
 * The command line acts as admin, because its user has the database's password. Functions that need a running service
 * throw.
 */
function contextOf({ settings }: CommandLine, consoleUrl?: string): Context {
  const onlyService = (): never => {
    throw new PlainError('only a running service can do this');
  };
  const { refundApprovalCent, refundDailyCent } = settings();
  return {
    person: { personId: 0, name: actorName(), role: 'admin', sessionId: '' },
    refundApprovalCent,
    refundDailyCent,
    consoleUrl: () => consoleUrl ?? consoleUrlOf(settings()),
    publicUrl: onlyService,
    redeemUrl: onlyService,
    findStep: onlyService,
    get channels() {
      return onlyService();
    },
    get pushClient() {
      return onlyService();
    },
    get cells() {
      return onlyService();
    },
  };
}

/** Derives the URL from the settings, because a command does not know which port a running service has opened. */
function consoleUrlOf({ consoleUrl, publicUrl, host, port, consoleHost, consolePort }: Settings): string {
  const address = consolePort === undefined ? { host, port } : { host: consoleHost, port: consolePort };
  const own = consolePort === undefined ? publicUrl : undefined;
  return consoleUrl ?? `${own ?? `http://${address.host}:${address.port}`}/console`;
}
