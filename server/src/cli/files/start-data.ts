/** Finds the data fields that a definition needs at the start, for suggested commands. */
import { parse } from 'yaml';
import { maskLiterals } from '../../engine/definitions/foreign/masked-code.js';
import type { WorkflowDefinition } from '../../engine/model/definition.js';
import { parseDefinition } from '../../engine/definitions/parse-definition.js';
import { isJsonObject, type JsonObject } from '../../engine/values/json.js';

/** A field that is read, other than by `.get()`; not a method. */
const READ = /(?<![\w.])data\.(?<name>[A-Za-z_]\w*)(?![\w(]|\s*\()/g;

/**
 * The required members of its `Input`; without `Input`, the fields that its expressions read and no Output writes. Only a guess:
 * fields whose names aren't identifiers are left out.
 * @param text a definition in YAML or JSON
 */
export function startDataOf(text: string): readonly string[] {
  const { definition, expressions } = parseDefinition(readDocument(text));
  if (definition === null) return [];
  if (definition.input !== null) {
    const { input } = definition;
    return isJsonObject(input) ? requiredBy(input) : [];
  }
  const written = fieldsWrittenBy(definition);
  const read = expressions.flatMap(({ source }) =>
    [...maskLiterals(source).matchAll(READ)].map(({ groups }) => groups?.['name'] ?? ''),
  );
  return [...new Set(read)].filter((name) => !written.has(name));
}

function readDocument(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent', merge: true });
  } catch {
    return null;
  }
}

function requiredBy({ properties, required }: JsonObject): readonly string[] {
  if (!Array.isArray(required)) return [];
  const fields = isJsonObject(properties) ? properties : {};
  const isGiven = (name: string): boolean => {
    const field = Object.hasOwn(fields, name) ? fields[name] : null;
    return isJsonObject(field) && Object.hasOwn(field, 'default');
  };
  return required.filter(
    (name): name is string => typeof name === 'string' && /^\w+$/.test(name) && !isGiven(name),
  );
}

function fieldsWrittenBy({ steps }: WorkflowDefinition): ReadonlySet<string> {
  return new Set([...steps.values()].flatMap(({ outputs }) => outputs.map(({ key }) => key)));
}
