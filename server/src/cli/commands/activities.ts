/** `stepwright activities`: lists the work queues of activities, or the items of one queue. */
import type {
  ActivityItem,
  ActivityQueue,
  ActivityQueueList,
} from '../../api/wire/models/activity.js';
import { connect } from '../connection/connect.js';
import type { ServerCommandOptions } from '../connection/options.js';
import { readPages } from '../connection/pages.js';
import { pathTo, type ServerClient } from '../connection/server-client.js';
import { Output } from '../output/output.js';
import { noteMore } from '../output/runs.js';
import { relativeTime } from '../output/times.js';

export interface ActivitiesOptions extends ServerCommandOptions {
  readonly limit: number;
  readonly cursor?: string;
}

export async function activities(
  name: string | undefined,
  options: ActivitiesOptions,
): Promise<void> {
  const client = await connect(options);
  const output = new Output();
  if (name !== undefined) return listItems(client, output, name, options);
  const queues = await client.get<ActivityQueueList>('/api/activity');
  if (options.json) {
    output.json(queues);
    return;
  }
  if (queues.items.length > 0) printQueues(output, queues.items);
  noteMore(output, queues, 'activities with work or workers');
}

function printQueues(output: Output, queues: readonly ActivityQueue[]): void {
  output.table(queues, [
    { title: 'ACTIVITY', text: ({ activityName }) => activityName, canShrink: true },
    { title: 'WAITING', text: ({ waiting }) => String(waiting), alignRight: true },
    { title: 'HELD', text: ({ held }) => String(held), alignRight: true },
    {
      title: 'OLDEST',
      isOptional: true,
      text: ({ oldestTime }) => relativeTime(oldestTime, output.now),
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
      text: ({ lastPollTime }) => relativeTime(lastPollTime, output.now),
    },
  ]);
}

async function listItems(
  client: ServerClient,
  output: Output,
  name: string,
  { cursor, json, limit }: ActivitiesOptions,
): Promise<void> {
  const page = await readPages<ActivityItem>(client, pathTo`/api/activity/${name}/queue`, {
    cursor,
    limit,
  });
  if (json) {
    output.json(page);
    return;
  }
  if (page.items.length > 0) {
    output.table(page.items, [
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
        title: 'OFFERED',
        isOptional: true,
        text: ({ offeredTime }) => relativeTime(offeredTime, output.now),
      },
      { title: 'WORKER', text: ({ workerId }) => workerId ?? '', canShrink: true },
      {
        title: 'LEASE ENDS',
        isOptional: true,
        text: ({ leaseUntil }) => relativeTime(leaseUntil, output.now),
      },
    ]);
  }
  noteMore(output, page, 'work items');
}
