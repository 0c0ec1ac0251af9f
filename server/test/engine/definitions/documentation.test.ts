/**
 * Goal: docs/definitions.md is correct.
 * Method: reads every YAML example in it as a definition (a list of steps, or the members of one step, are completed to
 * one), and searches its section for every name that the code knows.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BUILT_IN_STEP_TYPES } from '../../../src/engine/model/step-type-names.js';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import {
  DOCUMENT_ERROR_CODES,
  DOCUMENT_WARNING_CODES,
  TOO_MANY_PROBLEMS,
} from '../../../src/engine/definitions/problem-list.js';
import { DEFINITION_MEMBERS, STEP_MEMBERS } from '../../../src/engine/definitions/step-members.js';
import { builtInStepType } from '../../../src/engine/definitions/step-types.js';
import { documentWith, documentWithStep } from './documents.js';

const reference = readFileSync(new URL('../../../../docs/definitions.md', import.meta.url), 'utf8');

interface Example {
  readonly line: number;
  readonly text: string;
}

function yamlExamples(): readonly Example[] {
  return [...reference.matchAll(/^```yaml\n(.*?)^```$/gms)].map((match) => ({
    line: reference.slice(0, match.index).split('\n').length,
    text: match[1]!,
  }));
}

function toDocument(example: unknown): unknown {
  if (Array.isArray(example)) return documentWith(...(example as unknown[]));
  const members = example as Record<string, unknown>;
  return 'Steps' in members ? members : documentWithStep({ StepType: 'custom', ...members });
}

/** The text from a heading to the next one of the same or a higher level. */
function section(heading: string): string {
  const level = heading.indexOf(' ');
  const [, after] = reference.split(`\n${heading}\n`);
  expect(after, `the heading ${heading}`).toBeDefined();
  const text = after!.split(new RegExp(`^#{1,${level}} `, 'm'))[0]!;
  // Prettier pads the cells of tables.
  return text.replaceAll(/ +/g, ' ');
}

function label(name: string): string {
  return `\`${name.charAt(0).toUpperCase()}${name.slice(1)}\``;
}

describe('the definition reference', () => {
  it.each(yamlExamples())('has a valid example at line $line', ({ text }) => {
    const parsed = parseDefinition(toDocument(parse(text)));
    expect(parsed.errors).toEqual([]);
    expect(parsed.warnings).toEqual([]);
  });

  it.each(BUILT_IN_STEP_TYPES)('describes %s with all its inputs and outputs', (name) => {
    const text = section(`### ${name}`);
    const { inputs, outputs } = builtInStepType(name);
    for (const input of inputs) {
      expect(text).toContain(
        `| \`${input.name}\` | ${input.required ? 'required' : (input.default ?? '–')} |`,
      );
      for (const choice of input.choices) expect(text).toContain(`\`${choice}\``);
    }
    for (const output of outputs) expect(text).toContain(`\`step.${output.name}\``);
    expect(text).toContain('```yaml');
  });

  it('lists every member', () => {
    for (const name of DEFINITION_MEMBERS) {
      expect(section('## The definition')).toContain(`| ${label(name)} |`);
    }
    for (const name of STEP_MEMBERS) {
      expect(section('## Steps')).toContain(`| ${label(name)} |`);
    }
  });

  it('lists every problem code', () => {
    const text = section('## Problems that are reported');
    for (const code of [...DOCUMENT_ERROR_CODES, ...DOCUMENT_WARNING_CODES, TOO_MANY_PROBLEMS]) {
      expect(text).toContain(`| \`${code}\` |`);
    }
  });
});
