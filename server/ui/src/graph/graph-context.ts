import { createContext } from 'react';
import type { StepLiveStates } from './live-states.js';

/** What changes while the drawing stays as it is. Given past the nodes, so that a change draws only what shows it. */
export interface GraphView {
  readonly states: StepLiveStates | undefined;
  readonly selectedStepId: string | null;
  readonly onSelectStep: ((stepId: string) => void) | undefined;
}

export const GraphContext = createContext<GraphView>({
  states: undefined,
  selectedStepId: null,
  onSelectStep: undefined,
});
