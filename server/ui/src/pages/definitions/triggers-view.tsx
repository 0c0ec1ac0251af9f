import type { Trigger } from '@stepwright/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useLive, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { exactTime, plannedTime, timeElsewhere, useZone } from '../../components/zone-choice.js';
import { DataTable, type Column } from '../../components/data-table.js';
import { EmptyState } from '../../components/empty-state.js';
import { Loading } from '../../components/loading.js';
import { ProblemView } from '../../components/problem-view.js';
import { RunId } from '../../components/run-id.js';
import { TimeAgo } from '../../components/time-ago.js';
import { useThrottled } from '../../app/use-throttled.js';
import { BackfillForm } from './backfill-form.js';
import { TriggerButtons } from './trigger-buttons.js';

const REREAD_MS = 2000;

/** The triggers of a definition's latest version, with their due times, last outcome and actions. */
export function TriggersView({ definitionId }: { readonly definitionId: string }): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [filled, setFilled] = useState<string | null>(null);
  const queryKey = ['definition', definitionId, 'triggers'];
  const list = useQuery({
    queryKey,
    queryFn: ({ signal }) => client.triggers.list(definitionId, { signal }),
    refetchInterval: useSlowPollInterval(),
  });
  const reread = (): void => void queries.invalidateQueries({ queryKey });
  const soon = useThrottled(reread, REREAD_MS);
  useLive(({ definitions, workflows, lag }) => {
    const hasRun = [...workflows.values()].some((change) => change.definitionId === definitionId);
    if (definitions.has(definitionId) || hasRun || lag) soon();
  });
  useZone();
  if (list.error !== null) {
    return <ProblemView error={list.error} onRetry={() => void list.refetch()} />;
  }
  if (list.data === undefined) return <Loading />;
  if (list.data.length === 0) {
    return (
      <EmptyState title="This definition has no triggers.">
        <p>
          A trigger starts runs by time or by event. Add the member <code>Triggers</code> to the
          definition.
        </p>
      </EmptyState>
    );
  }
  return (
    <>
      <DataTable
        label="Triggers"
        columns={columnsOf(definitionId, reread, setFilled)}
        rows={list.data}
        rowKey={({ name }) => name}
      />
      <p className="hint">The triggers of the latest version apply.</p>
      {filled !== null && (
        <BackfillForm {...{ definitionId, name: filled }} onClose={() => setFilled(null)} />
      )}
    </>
  );
}

function columnsOf(
  definitionId: string,
  onChanged: () => void,
  onBackfill: (name: string) => void,
): readonly Column<Trigger>[] {
  return [
    {
      key: 'name',
      header: 'Trigger',
      cell: ({ name, paused }) => (
        <span className="trigger-name">
          <bdi>{name}</bdi> {paused && <span className="badge warning">paused</span>}
        </span>
      ),
    },
    { key: 'fires', header: 'Fires', cell: (trigger) => <Source trigger={trigger} /> },
    { key: 'next', header: 'Next', cell: (trigger) => <NextTimes trigger={trigger} /> },
    { key: 'last', header: 'Last', kind: 'wide', cell: ({ last }) => <Last last={last} /> },
    {
      key: 'actions',
      header: 'Actions',
      cell: (trigger) => <TriggerButtons {...{ definitionId, trigger, onChanged, onBackfill }} />,
    },
  ];
}

function Source({ trigger }: { readonly trigger: Trigger }): ReactNode {
  const { cron, timeZone, eventKey, eventName } = trigger;
  if (eventName !== null) {
    return (
      <>
        event <bdi>{eventName}</bdi>
        <div className="quiet">
          {eventKey === null ? (
            'any key'
          ) : (
            <>
              key <bdi>{eventKey}</bdi>
            </>
          )}
        </div>
      </>
    );
  }
  return (
    <>
      <code>{cron}</code>
      <div className="quiet">{timeZone}</div>
    </>
  );
}

function NextTimes({ trigger }: { readonly trigger: Trigger }): ReactNode {
  const { kind, nextTimes, paused, timeZone } = trigger;
  const [next, ...later] = nextTimes;
  if (kind === 'event') return <span className="quiet">with each event</span>;
  if (next === undefined) return <span className="none">–</span>;
  const there = (time: string): string | null => timeElsewhere(time, timeZone ?? 'UTC');
  return (
    <div className={paused ? 'trigger-times quiet' : 'trigger-times'}>
      {paused ? <span>not while it is paused</span> : <TimeAgo time={next} />}
      <TimeHereAndThere time={next} there={there(next)} />
      {later.length > 0 && (
        <details>
          <summary>{later.length} more</summary>
          <ol>
            {later.map((time) => (
              <li key={time}>
                <TimeHereAndThere time={time} there={there(time)} />
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

function TimeHereAndThere({
  time,
  there,
}: {
  readonly time: string;
  readonly there: string | null;
}): ReactNode {
  return (
    <div>
      <time dateTime={time} title={exactTime(time)}>
        {plannedTime(time)}
      </time>
      {there !== null && <div className="quiet">{there}</div>}
    </div>
  );
}

const TONES = {
  Started: 'good',
  Skipped: 'idle',
  Failed: 'bad strong',
  Missed: 'warning',
} as const satisfies Record<NonNullable<Trigger['last']>['outcome'], string>;

function Last({ last }: Pick<Trigger, 'last'>): ReactNode {
  if (last === null) return <span className="quiet">has not fired yet</span>;
  const { outcome, reason, time, workflowId } = last;
  return (
    <>
      <span className={`badge ${TONES[outcome]}`}>{outcome}</span> <TimeAgo time={time} />
      {workflowId !== null && (
        <div>
          <Link href={toPath('runs', workflowId)}>
            <RunId id={workflowId} />
          </Link>
        </div>
      )}
      {reason !== null && (
        <div className="quiet">
          <bdi>{reason}</bdi>
        </div>
      )}
    </>
  );
}
