import { createContext } from 'react';
import type { StepLiveStates } from './live-states.js';

/** What can change while the layout stays the same. A context, so that a change renders only the nodes that use it. */
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
