/**
 * Extracts members, step types and inputs from the JSON Schema of definitions, in the form that completion needs. The
 * schema accepts names in any casing by patterns, which generic JSON Schema editors do not support. Pure.
 */

export interface MemberHelp {
  readonly name: string;
  readonly description: string;
  /** The allowed values; empty if every value is allowed. */
  readonly values: readonly string[];
}

export interface StepTypeHelp {
  readonly description: string;
  readonly inputs: readonly MemberHelp[];
}

export interface DefinitionHelp {
  readonly definition: readonly MemberHelp[];
  readonly step: readonly MemberHelp[];
  /** By step type in lower case. */
  readonly types: ReadonlyMap<string, StepTypeHelp>;
}

export function readSchema(schema: unknown): DefinitionHelp {
  const step = at(schema, '$defs', 'step');
  const types = new Map<string, StepTypeHelp>();
  const members = membersOf(step);
  const rules = at(step, 'allOf');
  for (const rule of Array.isArray(rules) ? (rules as readonly unknown[]) : []) {
    const condition = matching(at(rule, 'if', 'patternProperties'), 'StepType');
    const inputs = matching(at(rule, 'then', 'patternProperties'), 'Inputs');
    const pattern = at(condition, 'pattern');
    const name = members
      .find((member) => member.name.toLowerCase() === 'steptype')
      ?.values.find((value) => typeof pattern === 'string' && matches(pattern, value));
    if (name === undefined) continue;
    types.set(name.toLowerCase(), {
      description: textOf(at(inputs, 'description')),
      inputs: membersOf(inputs),
    });
  }
  return { definition: membersOf(schema), step: members, types };
}

function membersOf(schema: unknown): MemberHelp[] {
  const patterns = at(schema, 'patternProperties');
  return entriesOf(at(schema, 'properties')).map(([name, help]) => ({
    name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    description: textOf(at(help, 'description')),
    values: valuesOf(matching(patterns, name)),
  }));
}

/** The first list of allowed words; the other forms are for old documents. */
function valuesOf(schema: unknown): string[] {
  const choices = at(schema, 'anyOf');
  const forms: readonly unknown[] = Array.isArray(choices) ? choices : [schema];
  for (const form of forms) {
    const words = at(form, 'enum');
    if (Array.isArray(words)) return words.filter((word) => typeof word === 'string');
    const type = at(form, 'type');
    if (Array.isArray(type) && type.includes('boolean') && type.length === 2) {
      return ['true', 'false'];
    }
  }
  return [];
}

function matching(patterns: unknown, name: string): unknown {
  return entriesOf(patterns).find(([pattern]) => matches(pattern, name))?.[1];
}

function matches(pattern: string, text: string): boolean {
  return new RegExp(pattern, 'u').test(text);
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inside, key) => entriesOf(inside).find(([name]) => name === key)?.[1],
    value,
  );
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
