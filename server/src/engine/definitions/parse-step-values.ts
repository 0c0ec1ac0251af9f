/** The members of a step with evaluated values: the maps Inputs, Outputs and SelectNextStep, and CancelCondition. */
import { describeValue, quoteText } from '../values/convert-input.js';
import type { StepDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import { isJsonObject } from '../values/json.js';
import { checkInputsTogether, checkLiteralInput, type GivenInput } from './check-literal-input.js';
import { childPointer } from './json-pointer.js';
import { label, type MemberReader } from './member-reader.js';
import { parseInputValue, type ValuePlace } from './parse-input-value.js';
import { warnAboutConstantCondition } from './late-warnings.js';
import type { ExpressionUse } from './parse-state.js';
import type { StepMember } from './step-members.js';
import type { InputKind, StepType, StepTypeInput } from './step-types.js';
import { suggestName } from './suggest-name.js';

type StepReader = MemberReader<StepMember>;
type NamedInput = StepDefinition['inputs'][number];

const INPUT: ExpressionUse = { gives: 'input', knowsStep: false, stepType: null };
const NAME: ExpressionUse = { ...INPUT, gives: 'name' };
const VALUE: ExpressionUse = { ...INPUT, gives: 'value' };
const NAME_KINDS: ReadonlySet<InputKind> = new Set([
  'name',
  'eventKey',
  'reference',
  'duration',
  'time',
  'choice',
]);

/** The inputs. `type` is null for a custom step, which accepts any input. */
export function parseInputs(reader: StepReader, type: StepType | null): readonly NamedInput[] {
  const entries = readMap(reader, 'inputs');
  if (type !== null) return parseBuiltInInputs(reader, type, entries);
  return entries.map(({ key, value, pointer }) => {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(key)) {
      const message = `${quoteText(key)} cannot be an input of a script, because it is not a valid Python variable name.`;
      reader.state.warnings.add('unusable_input_name', pointer, message);
    }
    const use = { ...INPUT, takesSecrets: true };
    return { name: key, value: parseInputValue(value, { pointer, use }, reader.state) };
  });
}

export function parseOutputs(
  reader: StepReader,
  stepType: StepType | null,
): StepDefinition['outputs'] {
  const use: ExpressionUse = { gives: 'value', knowsStep: true, stepType };
  return readMap(reader, 'outputs').map(({ key, value, pointer }) => {
    const parsed = parseInputValue(value, { pointer, use }, reader.state);
    if (parsed.kind === 'graph' || parsed.kind === 'list') {
      const message = 'An output is a single expression; "@" is only for inputs.';
      reader.state.errors.add('wrong_type', pointer, message);
    }
    return { key, value: parsed };
  });
}

export function parseSelectNextStep(
  reader: StepReader,
  stepType: StepType | null,
): StepDefinition['selectNextStep'] {
  const use: ExpressionUse = { gives: 'selection', knowsStep: true, stepType };
  return readMap(reader, 'selectNextStep').map(({ key, value, pointer }) => {
    reader.state.references.push({ stepId: key, pointer });
    const condition = parseCondition(reader, value, { pointer, use });
    if (condition.kind === 'constant' && condition.value !== true) {
      warnAboutConstantCondition(condition.value, pointer, reader.state.warnings);
    }
    return { stepId: key, condition };
  });
}

export function parseCancelCondition(reader: StepReader): InputValue | null {
  const value = reader.value('cancelCondition');
  if (value === null) return null;
  const use: ExpressionUse = { ...VALUE, gives: 'cancellation' };
  const place = { pointer: reader.pointerOf('cancelCondition'), use };
  const condition = isEmpty(value) ? null : parseCondition(reader, value, place);
  // Strings and constants are JSON values; anything else was rejected above.
  if (isScalar(value)) reader.keep('cancelCondition', value);
  return condition;
}

/** A map or list as a condition would always be true or always false: certainly a mistake. */
function parseCondition(reader: StepReader, value: unknown, place: ValuePlace): InputValue {
  if (!isScalar(value)) {
    const message = `A condition must be a Python expression, not ${describeValue(value)}.`;
    reader.state.errors.add('wrong_type', place.pointer, message);
    return { kind: 'constant', value: null };
  }
  return parseInputValue(value, place, reader.state);
}

/** An empty expression counts as absent. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'string' && value.trim() === '';
}

function isScalar(value: unknown): value is string | number | bigint | boolean | null {
  return value === null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

interface MapEntry {
  readonly key: string;
  readonly value: unknown;
  readonly pointer: string;
}

function readMap(
  reader: StepReader,
  name: 'inputs' | 'outputs' | 'selectNextStep',
): readonly MapEntry[] {
  const source = reader.value(name);
  if (source === null) return [];
  const pointer = reader.pointerOf(name);
  if (!isJsonObject(source)) {
    const message = `${label(name)} must be an object, not ${describeValue(source)}.`;
    reader.fail(name, 'wrong_type', message);
    return [];
  }
  if (!reader.state.admitValues(1, pointer)) return [];
  // Kept unchanged: the canonical form is used only if parsing each value below finds no error.
  reader.keep(name, source);
  return Object.entries(source).map(([key, value]) => ({
    key,
    value,
    pointer: childPointer(pointer, key),
  }));
}

function parseBuiltInInputs(
  reader: StepReader,
  type: StepType,
  entries: readonly MapEntry[],
): readonly NamedInput[] {
  const given = matchInputs(reader, type, entries);
  const inputs: GivenInput[] = [];
  const { takesSecrets } = type.traits;
  for (const [input, { value, pointer }] of given) {
    // Null counts as absent, as everywhere, so the defaults of built-in inputs apply.
    if (value === null || (isEmpty(value) && !takesEmptyText(input))) continue;
    const kind = NAME_KINDS.has(input.kind) || input.name === 'DefinitionId' ? NAME : INPUT;
    const use = { ...kind, takesSecrets };
    const parsed = parseInputValue(value, { pointer, use }, reader.state);
    checkLiteralInput(input, parsed, { pointer, state: reader.state });
    inputs.push({ input, value: parsed, pointer });
  }
  checkInputsTogether(inputs, reader.state);
  for (const input of type.inputs) {
    const value = given.get(input)?.value ?? null;
    if (!input.required || (value !== null && !isEmpty(value))) continue;
    const pointer = given.get(input)?.pointer ?? reader.pointerOf('inputs');
    const message = `${type.name} requires the input ${input.name}.`;
    reader.state.errors.add('missing_input', pointer, message);
  }
  return inputs.map(({ input, value }) => ({ name: input.name, value }));
}

/** For any other input, an empty expression means that the input is absent. */
function takesEmptyText({ kind }: StepTypeInput): boolean {
  return kind === 'text' || kind === 'any';
}

function matchInputs(
  reader: StepReader,
  type: StepType,
  entries: readonly MapEntry[],
): ReadonlyMap<StepTypeInput, MapEntry> {
  const { errors } = reader.state;
  const byLowerCase = new Map(type.inputs.map((input) => [input.name.toLowerCase(), input]));
  const given = new Map<StepTypeInput, MapEntry>();
  for (const entry of entries) {
    const input = byLowerCase.get(entry.key.toLowerCase());
    if (input === undefined) {
      errors.add('unknown_input', entry.pointer, () => unknownInput(type, entry.key));
    } else if (given.has(input)) {
      const message = `${input.name} is given twice, in different spellings.`;
      errors.add('duplicate_member', entry.pointer, message);
    } else {
      given.set(input, entry);
    }
  }
  return given;
}

function unknownInput(type: StepType, key: string): string {
  const names = type.inputs.map((input) => input.name);
  const known = names.length === 0 ? 'it has none' : `its inputs are ${names.join(', ')}`;
  return `${type.name} has no input ${quoteText(key)}; ${known}.${suggestName(key, names)}`;
}
