import { createContext } from 'react';
import type { StepLiveStates } from './live-states.js';
import type { TakenPath } from './taken-path.js';

/** What is about to happen to steps. */
export type StepMarks = ReadonlyMap<string, 'starts' | 'cancelled' | 'restarts'>;

/** Numbers of runs by step id. */
export type RunCounts = ReadonlyMap<string, number>;

/** What can change while the layout stays the same. A context, so that a change renders only the nodes that use it. */
export interface GraphView {
  readonly states: StepLiveStates | undefined;
  readonly marks: StepMarks | undefined;
  readonly selectedStepId: string | null;
  readonly onSelectStep: ((stepId: string) => void) | undefined;
  /** The path that a run has taken; undefined if the graph is not that of a run. */
  readonly path: TakenPath | undefined;
  /** The number of open runs at each step; undefined if the graph is not that of a definition. */
  readonly runCounts: RunCounts | undefined;
  /** Called when a person has moved the graph: it then stays as it is. */
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
