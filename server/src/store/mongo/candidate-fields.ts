/** The fields of an item that a claim needs. */
import type { Line } from '../records/turns.js';
import type { ActivityDocument } from './documents.js';
import { FAIRNESS_FIELDS } from './fairness-fields.js';

export interface Candidate extends Pick<
  ActivityDocument,
  | '_id'
  | 'instanceId'
  | 'priority'
  | 'fairnessKey'
  | 'fairnessWeight'
  | 'createdAt'
  | 'availableAt'
  | 'attempt'
  | 'tokenHash'
  | 'workerId'
  | 'parametersLength'
  | 'needs'
  | 'slots'
  | 'slotTry'
  | 'slotOn'
  | 'slotState'
> {
  /** Its key has a turn for it in this line, which comes back if it isn't handed out. */
  readonly reserved?: Line;
}

export const CANDIDATE_FIELDS = {
  instanceId: 1,
  priority: 1,
  ...FAIRNESS_FIELDS,
  createdAt: 1,
  availableAt: 1,
  attempt: 1,
  tokenHash: 1,
  workerId: 1,
  parametersLength: 1,
  needs: 1,
  slots: 1,
  slotTry: 1,
  slotOn: 1,
  slotState: 1,
};
