/** The activities of this example: what goes to a worker, and what comes back. */
import { activity, defineActivities } from '@stepwright/sdk';

export const activities = defineActivities({
  'add-numbers': activity<{ left: number; right: number; unit: string }, { sum: number }>(),
});
