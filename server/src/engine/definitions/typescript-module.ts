/** One TypeScript module for a definition: the types of its start data, its data, and its activities. */
import type { StepDefinition, WorkflowDefinition } from '../model/definition.js';
import type { InputValue } from '../model/input-value.js';
import { isJsonObject, type Json } from '../values/json.js';
import { quotedText } from './parse-input-value.js';
import { comment, memberName, TypesOfSchema, united } from './typescript-types.js';

const NAMES = ['Input', 'Data', 'Activities'];

export function typescriptModule(definition: WorkflowDefinition): string {
  const { description, id, input, version } = definition;
  const types = new TypesOfSchema(input ?? true, 'Input', NAMES);
  const header = comment(
    `Types of the definition ${JSON.stringify(id)}, version ${version}. ${description ?? ''}`,
    '',
  );
  const declared = types.declarations();
  const own = declared.length > 0 ? declared : [`export type Input = ${anyInput(definition)};\n`];
  return [header, ...own, dataType(definition), activityTypes(definition)].join('\n');
}

function anyInput({ input }: WorkflowDefinition): string {
  return input === false ? 'never' : '{\n  [name: string]: unknown;\n}';
}

/** Outputs replace or add fields of the start data, with values of unknown types. */
function dataType({ input, steps }: WorkflowDefinition): string {
  const properties = isJsonObject(input) ? input['properties'] : undefined;
  const given = new Set(
    properties !== undefined && isJsonObject(properties) ? Object.keys(properties) : [],
  );
  const written = new Set(
    [...steps.values()].flatMap(({ outputs }) => outputs.map(({ key }) => key)),
  );
  const added = [...written].filter((key) => !given.has(key));
  const members = added.map((key) => `  ${memberName(key)}?: unknown;\n`).join('');
  const type = members === '' ? 'Input' : `Input & {\n${members}}`;
  return `/** The data of a run: the start data, and the fields that Outputs add. */\nexport type Data = ${type};\n`;
}

/** The parameters of each activity with a literal name. */
function activityTypes({ steps }: WorkflowDefinition): string {
  const byName = new Map<string, string[]>();
  for (const step of steps.values()) {
    const name = step.type === 'Activity' ? literalText(inputOf(step, 'ActivityName')) : null;
    if (name === null) continue;
    const parameters = inputOf(step, 'Parameters');
    const type = parameters === null ? 'null' : typeOfValue(parameters, '  ');
    byName.set(name, [...(byName.get(name) ?? []), type]);
  }
  const members = [...byName].map(([name, types]) => `  ${memberName(name)}: ${united(types)};\n`);
  const type = members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}}`;
  return `/** The activities by name, each with the type of its parameters. */\nexport type Activities = ${type};\n`;
}

function inputOf({ inputs }: StepDefinition, name: string): InputValue | null {
  return inputs.find((input) => input.name === name)?.value ?? null;
}

function literalText(value: InputValue | null): string | null {
  return value?.kind === 'expression' ? quotedText(value.source) : null;
}

/** The value of an expression is not known. */
function typeOfValue(value: InputValue, indent: string): string {
  switch (value.kind) {
    case 'constant':
      return typeOfConstant(value.value, indent);
    case 'expression':
      return quotedText(value.source) === null ? 'unknown' : 'string';
    case 'list':
      return 'unknown[]';
    case 'graph':
      return objectOf(
        value.fields.map(([name, inner]) => [name, typeOfValue(inner, `${indent}  `)]),
        indent,
      );
  }
}

function typeOfConstant(value: Json, indent: string): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => typeOfConstant(item, indent));
    return items.length === 0 ? 'unknown[]' : `(${united(items)})[]`;
  }
  if (!isJsonObject(value)) return typeof value === 'bigint' ? 'number' : typeof value;
  const entries = Object.entries(value).map(
    ([name, inner]) => [name, typeOfConstant(inner, `${indent}  `)] as const,
  );
  return objectOf(entries, indent);
}

function objectOf(fields: readonly (readonly [string, string])[], indent: string): string {
  const members = fields.map(([name, type]) => `${indent}  ${memberName(name)}: ${type};\n`);
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
}
