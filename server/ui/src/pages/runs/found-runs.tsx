/** The results of a text search, each with the position of the text, and the progress of the search. */
import type { FoundWorkflow, WorkflowMatch } from '@stepwright/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toPath } from '../../app/path.js';
import { Button } from '../../components/button.js';
import { RunId } from '../../components/run-id.js';
import { TimeAgo } from '../../components/time-ago.js';
import type { TextSearch } from './find-text.js';

interface FoundRunsProps {
  readonly found: TextSearch;
  readonly isBusy: boolean;
  readonly onContinue: () => void;
}

export function FoundRuns({ found, isBusy, onContinue }: FoundRunsProps): ReactNode {
  const { exact, items, nextCursor, partsFrom } = found;
  return (
    <section className="found-runs" aria-label="Runs found">
      <ul>
        {items.map((each) => (
          <FoundRun key={each.workflow.workflowId} found={each} />
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
      {nextCursor !== null && (
        <Button isDisabled={isBusy} onPress={onContinue}>
          {isBusy ? 'Searching …' : 'Search older runs'}
        </Button>
      )}
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
