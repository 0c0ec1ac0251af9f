/** `stepwright limits`: manages limits, which steps of any definition share. */
import type { Limit, LimitKey } from '../../api/wire/models/limit.js';
import type { Output } from '../output/output.js';
import { fullTime, relativeTime } from '../output/times.js';
import { resource } from './resource-command.js';

const PAGE_SIZE = 50;

export const limits = resource<Limit>({
  description: 'limit how many steps work at a time, and how often they begin',
  noun: 'limit',
  path: '/api/limit',
  key: ['name', 'the name of a limit'],
  pageSize: PAGE_SIZE,
  columns: [
    { title: 'LIMIT', text: ({ name }) => name },
    { title: 'CONCURRENCY', text: ({ concurrency }) => numberOf(concurrency), alignRight: true },
    { title: 'RATE', text: rateOf },
    { title: 'HELD', text: ({ held }) => String(held), alignRight: true },
    { title: 'WAITING', text: ({ waiting }) => String(waiting), alignRight: true },
    {
      title: 'DESCRIPTION',
      isOptional: true,
      canShrink: true,
      text: ({ description }) => description ?? '',
    },
  ],
  pairs: (limit, now) => [
    ['Limit', limit.name],
    ['Description', limit.description ?? ''],
    ['Concurrency', numberOf(limit.concurrency)],
    ['Rate', rateOf(limit)],
    ['Held', String(limit.held)],
    ['Waiting', String(limit.waiting)],
    ['Created by', limit.createdBy],
    ['Updated', fullTime(limit.updatedAt, now)],
  ],
  printRest: printKeys,
  commands: {
    list: 'list limits, with what steps hold and what waits',
    put: 'set up a limit, or replace it as a whole',
    show: 'show a limit, with its keys',
    remove: 'remove a limit that no definition names',
  },
});

function numberOf(count: number | null): string {
  return count === null ? '' : String(count);
}

function rateOf({ rate }: Limit): string {
  if (rate === null) return '';
  const { burst, count, per } = rate;
  const period = typeof per === 'number' ? `${per}s` : per;
  return `${count} per ${period}, burst ${burst}`;
}

function printKeys(output: Output, { keys }: Limit): void {
  if (keys.length === 0) return;
  output.line('');
  output.table<LimitKey>(keys, [
    { title: 'KEY', text: ({ key }) => key ?? '(none)', canShrink: true },
    { title: 'HELD', text: ({ held }) => String(held), alignRight: true },
    { title: 'WAITING', text: ({ waiting }) => String(waiting), alignRight: true },
    {
      title: 'OLDEST WAIT',
      text: ({ oldestWaitSince }, now) =>
        oldestWaitSince === null ? '' : relativeTime(oldestWaitSince, now),
    },
  ]);
}
