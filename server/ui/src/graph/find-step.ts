/** Finds a step of a definition, and values in its document. Pure. */
import type { GraphDefinition, GraphStep } from './read-definition.js';

/** All steps in the order of the document, including nested steps and compensation steps. */
export function allSteps({ steps }: Pick<GraphDefinition, 'steps'>): readonly GraphStep[] {
  return steps.flatMap((step) => [
    step,
    ...allSteps({ steps: [...step.sequences.flat(), ...step.undo] }),
  ]);
}

/** The first step with this id, including nested steps and compensation steps. */
export function findStep(definition: GraphDefinition, stepId: string): GraphStep | null {
  return allSteps(definition).find(({ id }) => id === stepId) ?? null;
}

/** The value at a JSON pointer (RFC 6901), or undefined. */
export function atPointer(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? (value as Readonly<Record<string, unknown>>)[key]
          : undefined,
      document,
    );
}
