import type { Workflow } from '@stepwright/sdk';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { useAddressQuery } from '../../../app/address-query.js';
import { useLive, usePollInterval } from '../../../app/live.js';
import { useSession } from '../../../app/session.js';
import { useThrottled } from '../../../app/use-throttled.js';
import { Button } from '../../../components/button.js';
import { EmptyState } from '../../../components/empty-state.js';
import { Loading } from '../../../components/loading.js';
import { Pager, usePaging, type Paging } from '../../../components/pager.js';
import { ProblemView } from '../../../components/problem-view.js';
import { readDefinition } from '../../../graph/read-definition.js';
import { useDefinition } from '../../definitions/use-definition.js';
import { readStepPage, type StepPage } from './read-steps.js';
import { StepFilterBar } from './step-filter-bar.js';
import {
  activeCount,
  choiceMembers,
  readChoices,
  toStepFilter,
  turnProblem,
  withoutFilter,
  type StepChoices,
} from './step-filter.js';
import { StepRows } from './step-rows.js';

/** A list is reread at most once per second, and takes at most 1/`REREAD_SHARE` of the time. */
const REREAD_MS = 1000;
const REREAD_SHARE = 50;

interface StepListProps {
  readonly run: Workflow;
  /** Whether the run has so many executions that the newest come first. */
  readonly isLong: boolean;
}

/** The executions of a run that match the filter in the address, in pages. */
export function StepList({ run, isLong }: StepListProps): ReactNode {
  const [query, setQuery] = useAddressQuery();
  const choices = readChoices(query);
  const { data: document, isPending } = useDefinition(run.definitionId, run.version);
  const definition = useMemo(
    () => (document === undefined ? null : readDefinition(document)),
    [document],
  );
  const set = (next: StepChoices): void => setQuery({ tab: 'steps', ...choiceMembers(next) });
  const problem = turnProblem(choices, definition);
  return (
    <>
      <StepFilterBar {...{ choices, definition, isLong }} onChange={set} />
      {problem !== null ? (
        <p className="form-message" role="status">
          {problem}
        </p>
      ) : choices.turn !== '' && isPending ? (
        // The definition shows whether the step is a loop.
        <Loading />
      ) : (
        <Steps {...{ run, isLong, choices }} onClear={() => set(withoutFilter(choices))} />
      )}
    </>
  );
}

interface StepsProps extends StepListProps {
  readonly choices: StepChoices;
  readonly onClear: () => void;
}

function Steps({ run, isLong, choices, onClear }: StepsProps): ReactNode {
  const { paging, steps } = useStepPage(run.workflowId, choices, isLong);
  if (steps.data === undefined) {
    return steps.error === null ? <Loading /> : <ProblemView error={steps.error} />;
  }
  const { items, nextCursor } = steps.data;
  const isStale = steps.isPlaceholderData;
  return (
    <>
      {steps.error !== null && <ProblemView error={steps.error} />}
      <p className="step-count quiet" role="status">
        {isStale ? 'Searching …' : countText(steps.data, choices, paging.pageNumber)}
      </p>
      {items.length > 0 ? (
        <StepRows
          workflowId={run.workflowId}
          isSuspended={run.status === 'Suspended'}
          items={items}
        />
      ) : (
        <NoSteps {...{ choices, nextCursor, paging, isStale, onClear }} />
      )}
      <Pager {...{ paging, nextCursor, isStale }} />
    </>
  );
}

/** Empty if there is nothing to say about the search. */
function countText(
  { items, nextCursor }: StepPage,
  choices: StepChoices,
  pageNumber: number,
): string {
  const isAll = nextCursor === null && pageNumber === 1;
  if (activeCount(choices) === 0 || !isAll || items.length === 0) return '';
  return items.length === 1 ? '1 execution matches.' : `${items.length} executions match.`;
}

/** A page of the list, read again when the run changes: the longer that takes, the less often. */
function useStepPage(
  workflowId: string,
  choices: StepChoices,
  isLong: boolean,
): { readonly paging: Paging; readonly steps: UseQueryResult<StepPage> } {
  const { client } = useSession();
  const filter = toStepFilter(choices, isLong);
  const paging = usePaging(JSON.stringify([workflowId, filter]));
  const { cursor } = paging;
  const poll = usePollInterval();
  const pauseOf = (page: StepPage | undefined): number =>
    Math.max(REREAD_MS, (page?.tookMs ?? 0) * REREAD_SHARE);
  const steps = useQuery({
    queryKey: ['run', workflowId, 'steps', filter, cursor ?? null],
    queryFn: ({ signal }) => readStepPage({ client, workflowId, filter, cursor, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => poll !== false && Math.max(poll, pauseOf(state.data)),
  });
  const reread = useThrottled(() => void steps.refetch(), pauseOf(steps.data));
  useLive(({ workflows, lag }) => {
    if (lag || workflows.has(workflowId)) reread();
  });
  return { paging, steps };
}

interface NoStepsProps {
  readonly choices: StepChoices;
  readonly nextCursor: string | null;
  readonly paging: Paging;
  readonly isStale: boolean;
  readonly onClear: () => void;
}

/** Why the list is empty, and how to fix it. */
function NoSteps({ choices, nextCursor, paging, isStale, onClear }: NoStepsProps): ReactNode {
  if (activeCount(choices) === 0) return <EmptyState title="No step has run yet." />;
  return (
    <EmptyState title={emptyTitle(choices, nextCursor !== null, paging.pageNumber)}>
      <p className="empty-actions">
        {nextCursor !== null && (
          <Button isDisabled={isStale} onPress={() => paging.next(nextCursor)}>
            Continue the search
          </Button>
        )}
        <Button onPress={onClear}>Show all steps</Button>
      </p>
    </EmptyState>
  );
}

function emptyTitle(choices: StepChoices, hasMore: boolean, pageNumber: number): string {
  const { step, turn } = choices;
  if (hasMore) {
    return turn === ''
      ? 'This part of the run has no execution that matches.'
      : `The search has not reached turn ${turn} yet.`;
  }
  if (pageNumber > 1) return 'No further execution matches the filter.';
  const count = activeCount(choices);
  if (turn !== '' && count === 2) return `${step} has no turn ${turn}.`;
  if (step !== '' && count === 1) return 'This step has not run yet.';
  return 'No execution matches the filter.';
}
