/** Cells that show a worker's identity, activity and items, for the worker list and the worker page. */
import type { ServerWorker } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { TimeAgo, useNow } from '../../components/time-ago.js';

/** A worker that holds items without a lease and has not polled for this long may be gone; its items never return. */
const SILENT_MS = 10 * 60_000;

export function workerName({ workerId, address }: ServerWorker): string {
  return workerId === '' ? `unnamed${address === null ? '' : ` at ${address}`}` : workerId;
}

export function WorkerLink({ worker }: { readonly worker: ServerWorker }): ReactNode {
  const name = <bdi className="worker-name">{workerName(worker)}</bdi>;
  if (worker.workerId === '') return name;
  return <Link href={toPath('workers', worker.workerId)}>{name}</Link>;
}

export function WorkerOrigin({ worker }: { readonly worker: ServerWorker }): ReactNode {
  const { host, version, address } = worker;
  const parts = [
    host === null ? null : `host ${host}`,
    version === null ? null : `version ${version}`,
    address,
  ].filter((part) => part !== null);
  return <bdi className="quiet">{parts.join(', ')}</bdi>;
}

export function WorkerState({ worker }: { readonly worker: ServerWorker }): ReactNode {
  const nowMs = useNow();
  const { polling, held, lastPollTime, items } = worker;
  if (polling > 0) return <span className="badge good">waiting for work</span>;
  const isSilent = lastPollTime === null || nowMs - Date.parse(lastPollTime) > SILENT_MS;
  if (held > 0 && isSilent && items.some(({ leaseUntil }) => leaseUntil === null)) {
    return <span className="badge warning">may be gone: its items have no lease</span>;
  }
  if (held > 0) return <span className="badge running">busy</span>;
  return <span className="badge idle">not polling</span>;
}

/** The queues that it polls; for a worker that no node remembers, the queues of its items. */
export function WorkerActivities({ worker }: { readonly worker: ServerWorker }): ReactNode {
  const names = new Set([
    ...worker.activities.map(({ activityName }) => activityName),
    ...worker.items.map(({ activityName }) => activityName),
  ]);
  return (
    <span className="worker-activities">
      {[...names].map((name) => (
        <Link key={name} href={toPath('activities', name)}>
          <bdi>{name}</bdi>
        </Link>
      ))}
    </span>
  );
}

export function HeldSince({
  item: { heldSince, offeredTime },
}: {
  readonly item: ServerWorker['items'][number];
}): ReactNode {
  if (heldSince !== null) return <TimeAgo time={heldSince} />;
  return (
    <span className="quiet">
      at an unknown time; offered <TimeAgo time={offeredTime} />
    </span>
  );
}
