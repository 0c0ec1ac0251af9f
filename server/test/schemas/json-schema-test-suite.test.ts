/**
 * Goal: the server decides about data as JSON Schema, draft 2020-12, says (IS2).
 * Method: the official test suite, all required cases and the optional ones that are not about `format`. A schema is first
 * parsed and checked as a posted one; what is refused there is listed below with its reason, and everything else is decided.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '../../src/engine/definitions/parse-definition.js';
import { readJson } from '../../src/engine/values/exact-json.js';
import type { Json } from '../../src/engine/values/json.js';
import { checkSchema } from '../../src/schemas/validation/check-schema.js';
import { CompiledSchema } from '../../src/schemas/validation/compiled-schema.js';

interface Case {
  readonly description: string;
  readonly data: Json;
  readonly valid: boolean;
}

interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: Json;
  readonly tests: readonly Case[];
}

/** One group a line, with its file: json-schema-org/JSON-Schema-Test-Suite at 44401e0c. No current package has it. */
const SUITE = new URL('json-schema-test-suite/draft2020-12.ndjson', import.meta.url);

function readSuite(): readonly Group[] {
  const lines = readFileSync(SUITE, 'utf8').trimEnd().split('\n');
  return lines.map((line) => {
    const [file, group] = readJson(line) as unknown as readonly [string, Omit<Group, 'file'>];
    return { file, ...group };
  });
}

const GROUPS = readSuite();

/** The codes of what is wrong with a posted schema. */
function refusal(schema: Json): readonly string[] {
  const document = { Id: 'w', Input: schema, Steps: [{ Id: 'a', StepType: 'NoOp' }] };
  const { errors } = parseDefinition(document);
  const problems = errors.length > 0 ? errors : checkSchema(schema);
  return [...new Set(problems.map(({ code }) => code))];
}

/** What the server does not accept as a schema: the number of groups by file, and why. */
const REFUSED = {
  'defs.json foreign_reference': 1,
  'dynamicRef.json foreign_reference': 5,
  'optional/cross-draft.json foreign_reference': 1,
  'optional/format-assertion.json invalid_value': 2,
  'ref.json foreign_reference': 1,
  'refRemote.json foreign_reference': 15,
  'vocabulary.json invalid_value': 2,
};

describe('the JSON Schema test suite', () => {
  it('refuses only the schemas that need other documents', () => {
    const refused: Record<string, number> = {};
    for (const { file, schema } of GROUPS) {
      const codes = refusal(schema);
      const key = `${file} ${codes.join(' ')}`;
      if (codes.length > 0) refused[key] = (refused[key] ?? 0) + 1;
    }
    expect(refused).toEqual(REFUSED);
  });

  const files = [...new Set(GROUPS.map(({ file }) => file))];
  it.each(files)('decides as %s says', (file) => {
    const wrong: string[] = [];
    for (const group of GROUPS.filter((candidate) => candidate.file === file)) {
      if (refusal(group.schema).length > 0) continue;
      const compiled = new CompiledSchema(group.schema);
      for (const { data, description, valid } of group.tests) {
        if ((compiled.problemsOf(data).length === 0) !== valid) {
          wrong.push(`${group.description}: ${description}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
});
