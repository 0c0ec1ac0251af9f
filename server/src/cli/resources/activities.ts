/** `stepwright activities`: lists the work queues of activities, or the items of one queue. */
import type {
  ActivityItem,
  ActivityQueue,
  ActivityQueueList,
} from '../../api/wire/models/activity.js';
import { withPage, type PageOptions } from '../connection/options.js';
import { pathTo } from '../connection/server-client.js';
import type { Column } from '../output/table.js';
import { relativeTime } from '../output/times.js';
import { printList, serverCommand, type Call } from './server-command.js';

const QUEUE_COLUMNS: readonly Column<ActivityQueue>[] = [
  { title: 'ACTIVITY', text: ({ activityName }) => activityName, canShrink: true },
  { title: 'WAITING', text: ({ waiting }) => String(waiting), alignRight: true },
  { title: 'HELD', text: ({ held }) => String(held), alignRight: true },
  {
    title: 'OLDEST',
    isOptional: true,
    text: ({ oldestTime }, now) => relativeTime(oldestTime, now),
  },
  {
    title: 'POLLING',
    text: ({ pollers }) => String(pollers),
    style: ({ pollers, waiting }) => (pollers === 0 && waiting > 0 ? 'red' : null),
    alignRight: true,
  },
  {
    title: 'LAST POLL',
    isOptional: true,
    text: ({ lastPollTime }, now) => relativeTime(lastPollTime, now),
  },
];

const ITEM_COLUMNS: readonly Column<ActivityItem>[] = [
  { title: 'RUN', text: ({ workflowId }) => workflowId },
  {
    title: 'DEFINITION',
    isOptional: true,
    text: ({ definitionId }) => definitionId ?? '',
    canShrink: true,
  },
  { title: 'REFERENCE', text: ({ reference }) => reference ?? '', canShrink: true },
  { title: 'EXECUTION', text: ({ executionId }) => String(executionId), alignRight: true },
  { title: 'ATTEMPT', text: ({ attempt }) => String(attempt), alignRight: true },
  { title: 'STATE', text: ({ state }) => state },
  {
    title: 'PRIORITY',
    isOptional: true,
    text: ({ priority }) => String(priority),
    alignRight: true,
  },
  {
    title: 'FAIRNESS',
    isOptional: true,
    text: ({ fairnessKey }) => fairnessKey ?? '',
    canShrink: true,
  },
  {
    title: 'OFFERED',
    isOptional: true,
    text: ({ offeredTime }, now) => relativeTime(offeredTime, now),
  },
  { title: 'WORKER', text: ({ workerId }) => workerId ?? '', canShrink: true },
  {
    title: 'LEASE ENDS',
    isOptional: true,
    text: ({ leaseUntil }, now) => relativeTime(leaseUntil, now),
  },
];

export const activities = serverCommand({
  description: 'list the activities with work or workers, or the work items of one',
  declare: (command) => withPage(command.argument('[activity]', 'the name of an activity'), 50),
  run: async (call: Call<PageOptions>, name?: string) => {
    const client = await call.connect();
    if (name !== undefined) {
      const path = pathTo`/api/activity/${name}/queue`;
      await printList(call, client, { path, columns: ITEM_COLUMNS, nouns: 'work items' });
      return;
    }
    // Only the items of one queue have pages.
    const queues = await client.get<ActivityQueueList>('/api/activity');
    const { output } = call;
    const nouns = 'activities with work or workers';
    output.result(queues, () => output.page(queues, QUEUE_COLUMNS, nouns));
  },
});
