/** The runs that the search box has found by a text, each with where the text is. */
import type { FoundWorkflow, WorkflowFindings, WorkflowMatch } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { RunId } from '../../components/run-id.js';
import { TimeAgo } from '../../components/time-ago.js';

export function FoundRuns({ findings }: { readonly findings: WorkflowFindings }): ReactNode {
  const { exact, items, partsFrom } = findings;
  return (
    <section className="found-runs" aria-label="Runs found">
      <ul>
        {items.map((found) => (
          <FoundRun key={found.workflow.workflowId} found={found} />
        ))}
      </ul>
      <p className="quiet">
        {!exact && 'There may be more runs. '}
        {partsFrom === null ? (
          'All runs were searched for this text anywhere in a value.'
        ) : (
          <>
            Runs that started before <TimeAgo time={partsFrom} /> were searched only for values that
            start with this text.
          </>
        )}
      </p>
    </section>
  );
}

function FoundRun({ found: { matches, workflow } }: { readonly found: FoundWorkflow }): ReactNode {
  const [closest] = matches;
  return (
    <li>
      <Link href={toPath('runs', workflow.workflowId)}>
        <RunId id={workflow.workflowId} />
      </Link>{' '}
      <bdi>{workflow.definitionId}</bdi>
      {closest !== undefined && (
        <>
          {' '}
          <span className="quiet">{placeOf(closest)}</span> <bdi>{String(closest.value)}</bdi>
        </>
      )}
    </li>
  );
}

function placeOf({ name, of }: WorkflowMatch): string {
  if (of === 'tag') return `tag.${name ?? ''}`;
  return name ?? of;
}
