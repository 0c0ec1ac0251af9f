/**
 * Only `engine/definitions` and `engine/primitives` refer to step types by name: the table of step types contains
 * everything that the rest of the server must know about them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { BUILT_IN_STEP_TYPES } from '../../src/engine/model/step-type-names.js';
import { traitsOf } from '../../src/engine/definitions/step-types.js';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));
/** The test kit writes definitions, as authors do. */
const KNOWS_NAMES =
  /^engine\/model\/step-type-names\.ts$|^(?:engine\/(?:definitions|primitives)|generated|test-kit)\//;
/** In code, not in a comment. */
const NAME = new RegExp(`^(?!\\s*(?:\\*|//)).*(['"])(?:${BUILT_IN_STEP_TYPES.join('|')})\\1`, 'm');

describe('the server source code', () => {
  it('names step types only in their list and in the engine’s definitions and primitives', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts'));
    const named = files.filter((file) => NAME.test(readFileSync(`${SOURCES}${file}`, 'utf8')));
    expect(named).toContain('engine/model/step-type-names.ts');
    expect(named.filter((file) => !KNOWS_NAMES.test(file))).toEqual([]);
  });
});

describe('the characteristics of a step type', () => {
  it('marks the steps that change something outside the server', () => {
    const types = BUILT_IN_STEP_TYPES.filter((type) => traitsOf({ type }).hasSideEffects);
    expect(types).toEqual(['HttpRequest', 'SubWorkflow']);
  });

  it('gives a custom step the body that runs scripts', () => {
    expect(traitsOf({ type: null }).body).toBe('script');
  });
});
