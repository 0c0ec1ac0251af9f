import type { Schedule, ScheduledTrigger } from '@stepwright/sdk';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useLive, usePollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { useThrottled } from '../../app/use-throttled.js';
import { Button } from '../../components/button.js';
import { clockTime, exactTime, timeElsewhere, useZone } from '../../components/zone-choice.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { daysOf, isFrequent, type ScheduledDay, type ScheduledTime } from './schedule-groups.js';
import './schedule.css';

/** Due times pass even if nothing changes. */
const REFRESH_MS = 60_000;
const REREAD_MS = 3000;
const TRIGGERS = 100;
const TRIGGERS_MAX = 500;

/** The cron triggers that fire in the next 24 hours. */
export function SchedulePage(): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [limit, setLimit] = useState(TRIGGERS);
  const poll = usePollInterval();
  const schedule = useQuery({
    queryKey: ['schedule', limit],
    queryFn: ({ signal }) => client.triggers.schedule({ limit, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: poll === false ? REFRESH_MS : poll,
  });
  const soon = useThrottled(
    () => void queries.invalidateQueries({ queryKey: ['schedule'] }),
    REREAD_MS,
  );
  useLive(({ definitions, lag }) => {
    if (definitions.size > 0 || lag) soon();
  });
  useZone();
  const { data, error } = schedule;
  return (
    <Page title="Schedule">
      {error !== null && <ProblemView error={error} onRetry={() => void schedule.refetch()} />}
      {schedule.isPending && <Loading />}
      {data !== undefined && <NextDay schedule={data} />}
      {data?.more === true && (
        <p className="hint schedule-more">
          The {data.items.length} triggers that fire first are shown.{' '}
          {limit < TRIGGERS_MAX && (
            <Button isSmall isPending={schedule.isFetching} onPress={() => setLimit(TRIGGERS_MAX)}>
              Show up to {TRIGGERS_MAX}
            </Button>
          )}
        </p>
      )}
    </Page>
  );
}

function NextDay({ schedule }: { readonly schedule: Schedule }): ReactNode {
  const often = schedule.items.filter(isFrequent);
  const days = daysOf(schedule);
  if (schedule.items.length === 0) {
    return (
      <EmptyState title="No triggers fire in the next 24 hours.">
        <p>
          Triggers with a cron expression start runs by time. Paused triggers and those of disabled
          definitions are not shown.
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <p className="quiet">
        The triggers that fire until {exactTime(schedule.to)}. Paused triggers and those of disabled
        definitions are not shown.
      </p>
      {days.map((day) => (
        <Day key={`${day.day} ${day.hours[0]?.times[0]?.time ?? ''}`} day={day} />
      ))}
      {often.length > 0 && (
        <section className="schedule-often" aria-labelledby="often">
          <h2 id="often">More than four times a day</h2>
          <DataTable
            label="Triggers that fire often"
            columns={OFTEN_COLUMNS}
            rows={often}
            rowKey={({ definitionId, name }) => JSON.stringify([definitionId, name])}
          />
        </section>
      )}
    </>
  );
}

function Day({ day: { day, hours } }: { readonly day: ScheduledDay }): ReactNode {
  return (
    <section className="schedule-day" aria-label={day}>
      <h2>{day}</h2>
      <ol>
        {hours.map(({ hour, times }) => (
          <li key={times[0]?.time} className="schedule-hour">
            <span className="schedule-hour-name">{hour}</span>
            <ul>
              {times.map((at) => (
                <Entry key={keyOf(at)} at={at} />
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Entry({ at: { time, trigger } }: { readonly at: ScheduledTime }): ReactNode {
  const there = timeElsewhere(time, trigger.timeZone);
  return (
    <li className="schedule-entry">
      <time dateTime={time} title={exactTime(time)}>
        {clockTime(time)}
      </time>
      <span className="schedule-what">
        <TriggerLink trigger={trigger} /> <span className="quiet">of</span>{' '}
        <bdi>{trigger.definitionId}</bdi>
        <span className="quiet schedule-where">
          <code>{trigger.cron}</code>
          {there !== null && <> {there}</>}
        </span>
      </span>
      <TimeAgo time={time} />
    </li>
  );
}

function TriggerLink({ trigger }: { readonly trigger: ScheduledTrigger }): ReactNode {
  return (
    <Link href={`${toPath('definitions', trigger.definitionId)}?view=triggers`}>
      <bdi>{trigger.name}</bdi>
    </Link>
  );
}

function keyOf({ time, trigger }: ScheduledTime): string {
  return JSON.stringify([time, trigger.definitionId, trigger.name]);
}

const OFTEN_COLUMNS: readonly Column<ScheduledTrigger>[] = [
  { key: 'name', header: 'Trigger', cell: (trigger) => <TriggerLink trigger={trigger} /> },
  {
    key: 'definition',
    header: 'Definition',
    kind: 'wide',
    cell: ({ definitionId }) => <bdi>{definitionId}</bdi>,
  },
  {
    key: 'cron',
    header: 'Cron',
    cell: ({ cron, timeZone }) => (
      <>
        <code>{cron}</code> <span className="quiet">{timeZone}</span>
      </>
    ),
  },
  {
    key: 'next',
    header: 'Next',
    kind: 'time',
    cell: ({ times: [next = null] }) => <TimeAgo time={next} />,
  },
  {
    key: 'times',
    header: 'Times',
    kind: 'number',
    cell: ({ more, times }) => (more ? `more than ${times.length}` : times.length),
  },
];
