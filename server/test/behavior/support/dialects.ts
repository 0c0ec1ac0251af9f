/**
 * The same definition in the spellings that the server must take alike: JSON and YAML, `StepType` and `stepType`.
 *
 * Tests write definitions with the member names of the original (`StepType`); a dialect respells the members whose casing
 * does not matter and leaves alone what belongs to the user: step ids, data keys, inputs of custom steps, graph keys.
 */
import { stringify } from 'yaml';
import { BUILT_IN_STEP_TYPES } from '../../../src/engine/model/step-type-names.js';
import { writeJson } from '../../../src/engine/values/exact-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/engine/values/json.js';

export interface Dialect {
  readonly name: string;
  readonly mediaType: string;
  /** Any value as a body of this media type. */
  write(value: Json): string;
  /** A definition in this casing. */
  spell(definition: JsonObject): JsonObject;
}

type Casing = (name: string) => string;

const pascal: Casing = (name) => name;
const camel: Casing = (name) => name.charAt(0).toLowerCase() + name.slice(1);

function dialect(format: 'JSON' | 'YAML', example: string, casing: Casing): Dialect {
  return {
    name: `${format}, ${example}`,
    mediaType: format === 'JSON' ? 'application/json' : 'application/yaml',
    write: (value) => (format === 'JSON' ? writeJson(value) : stringify(value)),
    spell: (definition) => spellMembers(definition, casing),
  };
}

export const CAMEL_JSON = dialect('JSON', 'stepType', camel);
export const PASCAL_YAML = dialect('YAML', 'StepType', pascal);
export const PASCAL_JSON = dialect('JSON', 'StepType', pascal);
export const CAMEL_YAML = dialect('YAML', 'stepType', camel);
export const ALL_DIALECTS = [CAMEL_JSON, PASCAL_YAML, PASCAL_JSON, CAMEL_YAML] as const;

function spellMembers(definition: JsonObject, casing: Casing): JsonObject {
  return mapMembers(definition, (name, value) => [
    casing(name),
    name === 'Steps' ? spellSteps(value, casing) : value,
  ]);
}

/** A list of steps, or a list of such lists. Anything else is an invalid document of a test: unchanged. */
function spellSteps(steps: Json, casing: Casing): Json {
  if (Array.isArray(steps)) return steps.map((item: Json) => spellSteps(item, casing));
  if (!isJsonObject(steps)) return steps;
  const type = typeof steps['StepType'] === 'string' ? steps['StepType'] : '';
  const isBuiltIn = BUILT_IN_STEP_TYPES.some((name) => name === type);
  return mapMembers(steps, (name, value) => {
    if (name === 'Do' || name === 'CompensateWith')
      return [casing(name), spellSteps(value, casing)];
    if (name === 'StepType' && isBuiltIn) return [casing(name), casing(type)];
    if (name === 'Inputs' && isBuiltIn && isJsonObject(value)) {
      return [casing(name), mapMembers(value, (input, given) => [casing(input), given])];
    }
    return [casing(name), value];
  });
}

function mapMembers(
  object: JsonObject,
  map: (name: string, value: Json) => readonly [string, Json],
): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => map(name, value)));
}
