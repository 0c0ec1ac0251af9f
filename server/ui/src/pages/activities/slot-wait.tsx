import type { ActivityItem } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import { Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { RunId } from '../../components/run-id.js';
import { exactTimes } from '../run/fresh-text.js';
import { explainTogether } from '../runs/explain-together.js';

/** For which limit a work item waits, and behind whom. The rows of the table share a call. */
export function SlotWait({ item }: { readonly item: ActivityItem }): ReactNode {
  const { executionId, workflowId } = item;
  const { client } = useSession();
  const { data } = useQuery({
    queryKey: ['wait for a slot', workflowId],
    queryFn: ({ signal }) => explainTogether(client, workflowId, signal),
    refetchInterval: useSlowPollInterval(),
  });
  const reason = data?.reasons.find(
    (each) => each.kind === 'limit' && each.executionId === executionId,
  );
  if (reason === undefined) return null;
  const { holders = [], text } = reason;
  return (
    <p className="slot-wait">
      <bdi>{exactTimes(text)}</bdi>
      {holders.length > 0 && '; held by '}
      {holders.map((id, at) => (
        <Fragment key={id}>
          {at > 0 && ', '}
          <Link href={toPath('runs', id)}>
            <RunId id={id} />
          </Link>
        </Fragment>
      ))}
    </p>
  );
}
