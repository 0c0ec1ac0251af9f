/** The workflows of the repair matrix: a step that blocks, at one place, between steps that write their ids. */
import type { JsonObject } from '../../../../src/engine/values/json.js';
import { chain, step } from '../steps.js';
import { blockerOf, type BlockerName } from './blockers.js';

export const PLACES = [
  'top',
  'If',
  'While',
  'Foreach in parallel',
  'Foreach in sequence',
  'Parallel',
  'saga',
  'sub-workflow',
] as const;
export type Place = (typeof PLACES)[number];

export type Behavior = 'Retry' | 'Suspend' | 'Terminate' | 'Compensate' | 'none';

/** A step of a shape: it writes its id, contains other steps, or blocks. */
export type Node = Mark | Box | Block;

export interface Mark {
  readonly kind: 'mark';
  readonly id: string;
  /** Whether a compensation writes `-id`. */
  readonly isUndoable?: true;
  /** Counts the turns of a While. */
  readonly countsTurns?: true;
  /** Whether no path leads to it: only a repair starts it. */
  readonly isSpare?: true;
}

export interface Box {
  readonly kind: 'box';
  readonly id: string;
  readonly place: Exclude<Place, 'top' | 'sub-workflow'>;
  readonly do: readonly (readonly Node[])[];
}

export interface Block {
  readonly kind: 'block';
  readonly id: string;
  readonly blocker: BlockerName;
  readonly behavior: Behavior;
}

export const ITEMS = ['p', 'q'] as const;
export const TURNS = 2;

export interface Shape {
  readonly place: Place;
  readonly nodes: readonly Node[];
  /** The step at top level that blocks or contains the one that does. */
  readonly outer: string;
  /** The step that blocks, and the one after it. */
  readonly blocked: string;
  readonly next: string;
}

/** The step beside the one that blocks that is there for repairs. */
export const SPARE = 'spare';

const mark = (id: string): Mark => ({ kind: 'mark', id });

/**
 * Version 1: `before`, then the step `x` between `a` and `b` at its place, then `after`. In version 2, `x` is called `y`, `b` is
 * called `b2`, and `extra` follows it.
 */
export function shapeOf(
  place: Place,
  blocker: BlockerName,
  behavior: Behavior,
  version: 1 | 2,
): Shape {
  const [blocked, next] = version === 1 ? ['x', 'b'] : ['y', 'b2'];
  const block: Block = { kind: 'block', id: blocked, blocker, behavior };
  const rest = version === 1 ? [mark(next)] : [mark(next), mark('extra')];
  const first: Mark = {
    ...mark('a'),
    ...(place === 'saga' && { isUndoable: true }),
    ...(place === 'While' && { countsTurns: true }),
  };
  const path = [first, block, ...rest];
  const spare: Mark = { ...mark(SPARE), isSpare: true };
  const isTop = place === 'top' || place === 'sub-workflow';
  const box = (): Box => ({
    kind: 'box',
    id: 'box',
    place: place as Box['place'],
    do: place === 'Parallel' ? [[...path, spare], [mark('c')]] : [[...path, spare]],
  });
  return {
    place,
    nodes: [mark('before'), ...(isTop ? path : [box()]), mark('after'), ...(isTop ? [spare] : [])],
    outer: isTop ? blocked : 'box',
    blocked,
    next,
  };
}

export function stepsOf(nodes: readonly Node[]): JsonObject[] {
  const path = nodes.filter((node) => !isSpare(node));
  return [...chain(...path.map(stepOf)), ...nodes.filter(isSpare).map(stepOf)];
}

export function isSpare(node: Node): boolean {
  return node.kind === 'mark' && node.isSpare === true;
}

/** Appends the id and, in a Foreach, the item. */
const writes = (id: string): JsonObject => ({
  trail: `data.get("trail", []) + ["${id}" + (context.Item or "")]`,
});

function stepOf(node: Node): JsonObject {
  switch (node.kind) {
    case 'mark': {
      const undo = step(`-${node.id}`, 'NoOp', {}, { Outputs: writes(`-${node.id}`) });
      const turns = { turns: 'data.get("turns", 0) + 1' };
      const Outputs = { ...writes(node.id), ...(node.countsTurns === true && turns) };
      const CompensateWith = [undo];
      return step(
        node.id,
        'NoOp',
        {},
        { Outputs, ...(node.isUndoable === true && { CompensateWith }) },
      );
    }
    case 'box':
      return boxStep(node);
    case 'block':
      return blockStep(node);
  }
}

function boxStep({ do: sequences, id, place }: Box): JsonObject {
  const Do = sequences.map(stepsOf);
  switch (place) {
    case 'If':
      return step(id, 'If', { Condition: 'True' }, { Do });
    case 'While':
      return step(id, 'While', { Condition: `data.get("turns", 0) < ${TURNS}` }, { Do });
    case 'Foreach in parallel':
    case 'Foreach in sequence': {
      const RunParallel = place === 'Foreach in parallel';
      return step(id, 'Foreach', { Collection: JSON.stringify(ITEMS), RunParallel }, { Do });
    }
    case 'Parallel':
      return step(id, 'Parallel', {}, { Do });
    case 'saga':
      return step(id, 'Sequence', {}, { Saga: true, Do });
  }
}

function blockStep({ behavior, blocker: name, id }: Block): JsonObject {
  const { fails, inner, inputs = {}, stepType } = blockerOf(name);
  const { trail } = writes(id) as { trail: string };
  const isFixed = 'data.get("fixed", False)';
  const Outputs = {
    trail: fails === 'outputs' ? `${trail} if ${isFixed} else data.missing` : trail,
  };
  return step(id, stepType, inputs, {
    Outputs,
    ...(inner !== undefined && { Do: [[step(inner, 'NoOp', {}, { Outputs: writes(inner) })]] }),
    ...(behavior !== 'none' && { ErrorBehavior: behavior, RetryInterval: 3600 }),
  });
}
