/** Finds a step of a definition, and its place in the document. Pure. */
import type { GraphDefinition, GraphStep } from './read-definition.js';

/** The first step of that id, nested and compensation steps included. */
export function findStep(definition: GraphDefinition, stepId: string): GraphStep | null {
  const waiting = [...definition.steps];
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
    if (step.id === stepId) return step;
    waiting.push(...step.sequences.flat(), ...step.undo);
  }
  return null;
}

/** What a JSON pointer (RFC 6901) points to; undefined where there is nothing. */
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
