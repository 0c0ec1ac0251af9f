/** The activities of this example: the parameters that a worker gets, and the results that it returns. */
import { activity, defineActivities } from '@stepwright/sdk';

export const activities = defineActivities({
  'add-numbers': activity<{ left: number; right: number; unit: string }, { sum: number }>(),
});
