/**
 * Goal: D1 to D5 of parse-definition.ts for unforeseen documents.
 * Method: random valid documents that are transformed, random invalid ones, and a few that are built to be costly.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  parseDefinition,
  type ParsedDefinition,
} from '../../../src/engine/definitions/parse-definition.js';
import { documentWith, documentWithInputs, errorsOf, parseValid } from './documents.js';
import { anyCasing, recaseDocument, validDocument, randomDocument } from './random-documents.js';
import { propertyRuns } from '../../support/property-runs.js';

/** The value at a pointer; fails if there is none. */
function resolve(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of pointer.split('/').slice(1)) {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    expect(Object.hasOwn(value as object, key), `${pointer} at ${key}`).toBe(true);
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function checkFindings(document: unknown, parsed: ParsedDefinition): void {
  expect(parsed.definition === null).toBe(parsed.errors.length > 0);
  expect(parsed.canonical === null).toBe(parsed.errors.length > 0);
  for (const { pointer, message } of [...parsed.errors, ...parsed.warnings]) {
    resolve(document, pointer);
    expect(message.length).toBeLessThan(500);
  }
  for (const { source, pointer } of parsed.expressions) {
    expect((resolve(document, pointer) as string).trim()).toBe(source);
  }
  for (const { name, pointer } of parsed.customSteps) {
    expect(String(resolve(document, pointer)).trim()).toBe(name);
  }
}

describe('parseDefinition — properties', () => {
  it('reads valid documents without an error, and reads their canonical form as the same definition', () => {
    fc.assert(
      fc.property(validDocument, (document) => {
        const parsed = parseDefinition(document);
        expect(parsed.errors).toEqual([]);
        checkFindings(document, parsed);
        const again = parseDefinition(parsed.canonical);
        expect(again.definition).toEqual(parsed.definition);
        expect(again.canonical).toEqual(parsed.canonical);
        expect(again.warnings.map(({ code }) => code)).toEqual(
          parsed.warnings.map(({ code }) => code),
        );
      }),
    );
  });

  it('reads the same definition whatever the casing of member names', () => {
    fc.assert(
      fc.property(validDocument, anyCasing, (document, recase) => {
        expect(parseValid(recaseDocument(document, recase))).toEqual(parseValid(document));
      }),
    );
  });

  it('reads the same definition after a round trip through JSON', () => {
    fc.assert(
      fc.property(validDocument, (document) => {
        const stored: unknown = JSON.parse(JSON.stringify(parseDefinition(document).canonical));
        expect(parseValid(stored)).toEqual(parseValid(document));
      }),
    );
  });

  it('does not throw, and reports only existing paths', () => {
    fc.assert(
      fc.property(randomDocument, (document) => {
        checkFindings(document, parseDefinition(document));
      }),
      propertyRuns(2000),
    );
  });

  it('does not modify the document', () => {
    fc.assert(
      fc.property(randomDocument, (document) => {
        const before = structuredClone(document);
        parseDefinition(document);
        expect(document).toEqual(before);
      }),
    );
  });
});

describe('parseDefinition — costly documents', () => {
  function nest(levels: number, around: (inner: unknown) => unknown): unknown {
    let nested: unknown = null;
    for (let level = 0; level < levels; level++) nested = around(nested);
    return nested;
  }

  it.each<[string, unknown, string]>([
    ['lists in lists', nest(100_000, (inner) => [inner]), 'wrong_type '],
    [
      'inputs in inputs',
      documentWithInputs('custom', { x: nest(100_000, (inner) => ({ '@a': inner })) }),
      `too_deep /Steps/0/Inputs/x${'/@a'.repeat(64)}`,
    ],
    [
      'steps in steps',
      documentWith(nest(10_000, (inner) => ({ Id: 'a', StepType: 'Sequence', Do: [[inner]] }))),
      `too_deep /Steps/0${'/Do/0/0'.repeat(32)}/Do`,
    ],
  ])('stops reading %s', (_, document, error) => {
    expect(errorsOf(parseDefinition(document))).toContain(error);
  });

  it('stops at values that YAML aliases multiply', () => {
    // Thirty levels, each naming the one before twice: 30 lines of YAML stand for 2^30 values.
    const doubled = nest(30, (inner) => [inner, inner]);
    const parsed = parseDefinition(documentWithInputs('custom', { x: doubled }));
    expect(parsed.errors.map(({ code }) => code)).toEqual(['too_large']);
  });

  it('stops at steps and sequences that YAML aliases multiply', () => {
    const step = nest(20, (inner) => {
      const sequence = Array.from({ length: 100 }, () => inner);
      const all = Array.from({ length: 100 }, () => sequence);
      return { Id: 'a', StepType: 'Sequence', Do: all, CompensateWith: sequence };
    });
    // 100^40 steps, of which only the allowed number is visited; the rest costs one visit per list.
    const { errors } = parseDefinition(documentWith(step), { maxSteps: 50 });
    const codes = new Set(errors.map(({ code }) => code));
    expect(codes).toEqual(new Set(['wrong_type', 'duplicate_step_id', 'too_many_steps']));
  });

  it('reads a document of 1 MB in which everything is invalid within the time limit', () => {
    const unknown = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`NextStepIdd${index}`, 'x'.repeat(20)]),
    );
    const inputs = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`Mesage${index}`, 'data..x']),
    );
    const select = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`step ${index}`, '']),
    );
    const document = documentWith({
      ...unknown,
      Id: 'a',
      StepType: 'EmitLog',
      Inputs: inputs,
      SelectNextStep: select,
    });
    const start = performance.now();
    const parsed = parseDefinition(document);
    // Measured: 30 ms. A cost that grows faster than the document would take minutes.
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(parsed.errors).toHaveLength(101);
    expect(parsed.warnings).toHaveLength(101);
  });
});
