/** Small documents for the tests of this folder. */
import { expect } from 'vitest';
import type { StepDefinition, WorkflowDefinition } from '../../../src/engine/model/definition.js';
import {
  parseDefinition,
  type ParsedDefinition,
  type ParseOptions,
} from '../../../src/engine/definitions/parse-definition.js';

/** A definition with these steps. */
export function documentWith(...steps: readonly unknown[]): Record<string, unknown> {
  return { Id: 'test', Steps: steps };
}

/** A definition with one step `a` that also has these members. */
export function documentWithStep(members: Record<string, unknown>): Record<string, unknown> {
  return documentWith({ Id: 'a', StepType: 'NoOp', ...members });
}

/** A definition with one step `a` of that type and these inputs. */
export function documentWithInputs(stepType: string, inputs: unknown): Record<string, unknown> {
  return documentWithStep({ StepType: stepType, Inputs: inputs });
}

export function parseValid(document: unknown, options?: ParseOptions): WorkflowDefinition {
  const { definition, errors } = parseDefinition(document, options);
  expect(errors).toEqual([]);
  return definition!;
}

/** The step `a` of a valid document. */
export function parseStepA(document: unknown): StepDefinition {
  return parseValid(document).steps.get('a')!;
}

/** Problems as `code pointer`, for comparison in test tables. */
export function errorsOf(parsed: ParsedDefinition): string[] {
  return parsed.errors.map(({ code, pointer }) => `${code} ${pointer}`);
}

export function warningsOf(parsed: ParsedDefinition): string[] {
  return parsed.warnings.map(({ code, pointer }) => `${code} ${pointer}`);
}

/** A document and the problems that it has. */
export interface DocumentCase {
  readonly title: string;
  readonly document: unknown;
  /** `code pointer` of each problem, in the order in which they are found. */
  readonly found: readonly string[];
  readonly options?: ParseOptions;
}

export const NO_OP = { Id: 'a', StepType: 'NoOp' };
