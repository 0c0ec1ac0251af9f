/**
 * Goal: editors accept what the server accepts, and mark the mistakes that they can detect.
 * Method: validates random valid documents in random casing and a table of mistakes with the schema; compares the file
 * in docs/ with the function (update it with `vitest -u`).
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { format } from 'prettier';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { definitionJsonSchema } from '../../../src/engine/definitions/definition-json-schema.js';
import { parseDefinition } from '../../../src/engine/definitions/parse-definition.js';
import { documentWith, documentWithInputs, documentWithStep } from './documents.js';
import { anyCasing, recaseDocument, validDocument } from './random-documents.js';

interface Described {
  readonly properties: Readonly<Record<string, { readonly description: string }>>;
}

const ROOT = new URL('../../../../', import.meta.url);

/** `member: meaning` of each row of a table, without markup. */
function memberMeanings(section: string): readonly string[] {
  const rows = [...section.matchAll(/^\| `(\w+)` +\|[^|]*\|([^|]*)\|$/gm)];
  return rows.map(
    ([, name, meaning]) =>
      `${name!.toLowerCase()}: ${meaning!.replaceAll(/\[([^\]]*)\]\([^)]*\)|`/g, '$1').trim()}`,
  );
}

function shown(properties: Described['properties']): readonly string[] {
  return Object.entries(properties).map(
    ([name, { description }]) => `${name.toLowerCase()}: ${description}`,
  );
}

const validate = new Ajv2020({ strict: false }).compile(definitionJsonSchema());

describe('definitionJsonSchema', () => {
  it('accepts the documents that the parser accepts', () => {
    fc.assert(
      fc.property(validDocument, anyCasing, (document, recase) => {
        validate(recaseDocument(document, recase));
        expect(validate.errors ?? []).toEqual([]);
      }),
    );
  });

  it.each<[string, unknown]>([
    ['null members', documentWithStep({ Inputs: null, NextStepId: null, Do: null, Saga: null })],
    ['a flat Do', documentWithStep({ StepType: 'Sequence', Do: [{ Id: 'b', StepType: 'NoOp' }] })],
    ['numbers as ids', { Id: 1, Steps: [{ Id: 2, StepType: 'NoOp' }] }],
    ['error behaviors as numbers', documentWithStep({ ErrorBehavior: 2, OnRetriesExhausted: 1 })],
    ['step types with space around', documentWithInputs(' delay ', { PERIOD: 5 })],
    ['unknown members', { ...documentWithStep({ Unknown: 1 }), Author: 'me' }],
  ])('accepts %s', (_, document) => {
    expect(parseDefinition(document).errors).toEqual([]);
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['no Id', { Steps: [{ Id: 'a', StepType: 'NoOp' }] }],
    ['a blank Id', { Id: ' ', Steps: [{ Id: 'a', StepType: 'NoOp' }] }],
    ['no steps', { Id: 'w', Steps: [] }],
    ['a step without id', documentWith({ StepType: 'NoOp' })],
    ['a step without type', documentWith({ Id: 'a' })],
    ['a missing input', documentWithInputs('Delay', {})],
    ['a missing input where there are no inputs', documentWithStep({ StepType: 'Delay' })],
    ['a required input that is null', documentWithInputs('Delay', { Period: null })],
    ['an unknown input', documentWithInputs('EmitLog', { Message: '1', Text: '2' })],
    ['a count of 0', documentWithInputs('Foreach', { Collection: 'data.x', MaxParallel: 0 })],
    ['a condition that is a list', documentWithStep({ CancelCondition: [] })],
    ['an unknown error behavior', documentWithStep({ ErrorBehavior: 'Ignore' })],
    ['Retry after the last retry', documentWithStep({ OnRetriesExhausted: 'Retry' })],
    ['a duration without length as Timeout', documentWithStep({ Timeout: 0 })],
    ['a mistake in a nested step', documentWithStep({ StepType: 'If', Do: [[{ Id: 'b' }]] })],
  ])('rejects %s, as the parser does', (_, document) => {
    expect(parseDefinition(document).errors).not.toEqual([]);
    expect(validate(document)).toBe(false);
  });

  it.each(
    globSync('examples/*/*.yaml', { cwd: ROOT, exclude: ['**/*.test.yaml', '**/*.limit.yaml'] }),
  )('accepts %s', (file) => {
    const document: unknown = parse(readFileSync(new URL(file, ROOT), 'utf8'));
    validate(document);
    expect(validate.errors ?? []).toEqual([]);
  });

  it('describes each member in the words of the reference', () => {
    const reference = readFileSync(new URL('docs/definitions.md', ROOT), 'utf8');
    const [definition = '', step = ''] = ['## The definition', '## Steps'].map(
      (title) => reference.split(`${title}\n`)[1]?.split('\n#')[0],
    );
    const { $defs, properties } = definitionJsonSchema() as unknown as Described & {
      $defs: { step: Described };
    };
    expect(memberMeanings(definition).toSorted()).toEqual(shown(properties).toSorted());
    expect(memberMeanings(step).toSorted()).toEqual(shown($defs.step.properties).toSorted());
  });

  it('is the schema that the documentation publishes', async () => {
    const json = JSON.stringify(definitionJsonSchema(), null, 2);
    const formatted = await format(json, { parser: 'json', printWidth: 100 });
    await expect(formatted).toMatchFileSnapshot('../../../../docs/definition.schema.json');
  });
});
