import { createContext } from 'react';
import type { StepLiveStates } from './live-states.js';
import type { TakenPath } from './taken-path.js';

/** The planned change of each step. */
export type StepMarks = ReadonlyMap<string, 'starts' | 'canceled' | 'restarts'>;

/** Numbers of runs by step id. */
export type RunCounts = ReadonlyMap<string, number>;

/** State that can change without a new layout. It is a context, so a change rerenders only the nodes that use it. */
export interface GraphView {
  readonly states: StepLiveStates | undefined;
  readonly marks: StepMarks | undefined;
  readonly selectedStepId: string | null;
  readonly onSelectStep: ((stepId: string) => void) | undefined;
  /** The path that a run has taken; undefined if the graph doesn't show a run. */
  readonly path: TakenPath | undefined;
  /** The number of open runs at each step; undefined if the graph doesn't show a definition. */
  readonly runCounts: RunCounts | undefined;
  /** Called when the user has moved the graph, which then keeps its position. */
  readonly keepView: () => void;
}

export const GraphContext = createContext<GraphView>({
  states: undefined,
  marks: undefined,
  selectedStepId: null,
  onSelectStep: undefined,
  path: undefined,
  runCounts: undefined,
  keepView: () => undefined,
});
