import { isApiError, type Explanation, type Workflow } from '@stepwright/sdk';
import { useMemo, type ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';
import { Link, useLocation, useSearch } from 'wouter';
import { toPath, usePathParts } from '../../app/path.js';
import { CopyText } from '../../components/copy-text.js';
import { EmptyState } from '../../components/empty-state.js';
import { Fact } from '../../components/fact.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { RunBadge } from '../../components/status-badge.js';
import { exactTime, useZone } from '../../components/zone-choice.js';
import { durationText, TimeAgo, useNow } from '../../components/time-ago.js';
import { liveStatesOf } from '../../graph/live-states.js';
import { WorkflowGraph } from '../../graph/workflow-graph.js';
import { useDefinition } from '../definitions/use-definition.js';
import { AuditList } from './audit-list.js';
import { DataView } from './data-view.js';
import { LogView } from './log/log-view.js';
import { RepairPanel } from './repair/repair-panel.js';
import { RunActions, useControl } from './run-actions.js';
import { RunMenu } from './run-menu.js';
import { RunDebounce } from './run-debounce.js';
import { RunIndex, RunOrder, RunTags } from './run-fields.js';
import { StepList } from './step-list/step-list.js';
import { Timeline } from './timeline.js';
import { TraceLink } from './trace-link.js';
import { runsPath } from '../runs/run-filter.js';
import {
  CHILD_COUNT_MAX,
  CUT_WORDS,
  type Executions,
  UnknownRun,
  useChildCount,
  useExecutions,
  useExplanation,
  useLiveRun,
  useRereadRun,
  useRun,
} from './use-run.js';
import { WhyPanel } from './why-panel.js';

const TABS = ['overview', 'steps', 'data', 'log', 'history'] as const;
const TAB_LABELS = {
  overview: 'Overview',
  steps: 'Steps',
  data: 'Data',
  log: 'Log',
  history: 'History',
};
type TabName = (typeof TABS)[number];

/** One run, with the reason for its wait, its history and the available actions. */
export function RunPage(): ReactNode {
  const [, workflowId = ''] = usePathParts();
  return <RunOf key={workflowId} workflowId={workflowId} />;
}

function RunOf({ workflowId }: { readonly workflowId: string }): ReactNode {
  useLiveRun(workflowId);
  const explanation = useExplanation(workflowId);
  const isUnknown = explanation.error instanceof UnknownRun;
  const run = useRun(workflowId, !explanation.isPending && !isUnknown);
  if (run.data !== undefined) return <LoadedRun run={run.data} error={run.error} />;
  return (
    <Page title="Run">
      {isUnknown || isMissing(run.error) ? (
        <NoSuchRun workflowId={workflowId} />
      ) : run.error === null ? (
        <Loading />
      ) : (
        <ProblemView error={run.error} onRetry={() => void run.refetch()} />
      )}
    </Page>
  );
}

/** It may have been purged since it was explained. */
function isMissing(error: Error | null): boolean {
  return isApiError(error) && error.code === 'workflow_not_found';
}

/** A SubWorkflow step knows the id of its child before the child exists; the change stream then announces the child. */
function NoSuchRun({ workflowId }: { readonly workflowId: string }): ReactNode {
  return (
    <EmptyState title="There is no run with this id.">
      <p>
        <code>
          <bdi>{workflowId}</bdi>
        </code>
      </p>
      <p>
        If you came from a SubWorkflow step, its run could not be started, or is about to start and
        will appear here. Runs that ended long ago have been removed.
      </p>
      <p>
        <Link href="/runs">Show all runs</Link>
      </p>
    </EmptyState>
  );
}

function LoadedRun({
  run,
  error,
}: {
  readonly run: Workflow;
  readonly error: Error | null;
}): ReactNode {
  const { workflowId, definitionId, version, status } = run;
  const reread = useRereadRun(workflowId);
  const control = useControl(run, reread);
  const explanation = useExplanation(workflowId);
  const hasRetry = explanation.data?.reasons.some(({ kind }) => kind === 'retry') ?? false;
  return (
    <Page
      title={`${definitionId} · ${workflowId}`}
      heading={
        <>
          <span className="run-heading">
            <bdi>{definitionId}</bdi> <span className="quiet">v{version}</span>
          </span>{' '}
          <RunBadge run={run} reasons={explanation.data?.reasons} />
        </>
      }
      actions={
        <>
          <RunActions status={status} hasRetry={hasRetry} control={control} />
          <Link className="button" href={`${toPath('runs', workflowId)}?repair=`}>
            Repair …
          </Link>
          <RunMenu run={run} />
        </>
      }
    >
      {error !== null && <ProblemView error={error} onRetry={reread} />}
      <Facts run={run} onChange={reread} />
      {explanation.data !== undefined && (
        <WhyPanel
          explanation={explanation.data}
          readMs={explanation.dataUpdatedAt}
          control={control}
          onDone={reread}
        />
      )}
      {explanation.error !== null && (
        <ProblemView error={explanation.error} onRetry={() => void explanation.refetch()} />
      )}
      <RunBody run={run} explanation={explanation.data} onDone={reread} />
    </Page>
  );
}

/** The views of the run, or the repair panel in their place. */
function RunBody({
  run,
  explanation,
  onDone,
}: {
  readonly run: Workflow;
  readonly explanation: Explanation | undefined;
  readonly onDone: () => void;
}): ReactNode {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const executions = useExecutions(run.workflowId);
  const stepId = search.get('repair');
  if (stepId === null) return <RunTabs run={run} />;
  if (executions.data === undefined || explanation === undefined) return <Loading />;
  return (
    <RepairPanel
      key={`${stepId}/${search.get('from') ?? ''}`}
      {...{ run, explanation, onDone }}
      executions={executions.data}
      stepId={stepId === '' ? null : stepId}
      isFromStart={search.get('from') === 'start'}
      onClose={() => navigate(toPath('runs', run.workflowId))}
    />
  );
}

function Facts({
  run,
  onChange,
}: {
  readonly run: Workflow;
  readonly onChange: () => void;
}): ReactNode {
  const nowMs = useNow();
  const { workflowId, definitionId, reference, startTime, endTime, lastChangeTime, parent } = run;
  const endMs = endTime === null ? nowMs : Date.parse(endTime);
  return (
    <dl className="facts">
      <Fact label="Run">
        <code>{workflowId}</code> <CopyText text={workflowId} what="the id of the run" />
      </Fact>
      <Fact label="Definition">
        <Link href={`${toPath('definitions', definitionId)}?version=${run.version}`}>
          <bdi>{definitionId}</bdi>
        </Link>{' '}
        version {run.version}
      </Fact>
      <Fact label="Reference">
        {reference === null ? <span className="none">–</span> : <bdi>{reference}</bdi>}
      </Fact>
      {parent !== null && (
        <Fact label="Started by">
          <ParentRun parent={parent} />
        </Fact>
      )}
      <Children workflowId={workflowId} />
      {run.restartOf !== null && <RunLink label="Restart of" workflowId={run.restartOf} />}
      {run.restartedAs !== null && <RunLink label="Restarted as" workflowId={run.restartedAs} />}
      <Fact label="Started">{exactTime(startTime)}</Fact>
      <Fact label={endTime === null ? 'Changed' : 'Ended'}>
        <TimeAgo time={endTime ?? lastChangeTime} />
      </Fact>
      <Fact label={endTime === null ? 'Open for' : 'Duration'}>
        {durationText(Math.max(0, endMs - Date.parse(startTime)))}
      </Fact>
      {run.traceId !== undefined && <TraceLink traceId={run.traceId} />}
      {run.debounce !== null && (
        <Fact label="Debounce">
          <RunDebounce debounce={run.debounce} />
        </Fact>
      )}
      <RunOrder {...{ run, onChange }} />
      <Fact label="Tags">
        <RunTags {...{ run, onChange }} />
      </Fact>
      {Object.keys(run.index).length > 0 && (
        <Fact label="Index">
          <RunIndex run={run} />
        </Fact>
      )}
    </dl>
  );
}

/** A link to the parent, at the step that started this run. */
function ParentRun({ parent }: { readonly parent: NonNullable<Workflow['parent']> }): ReactNode {
  const { stepId, workflowId } = parent;
  const query = stepId === null ? '' : `?${new URLSearchParams({ tab: 'steps', step: stepId })}`;
  return (
    <>
      {stepId !== null && (
        <>
          step <bdi>{stepId}</bdi> of{' '}
        </>
      )}
      <Link href={`${toPath('runs', workflowId)}${query}`} title={workflowId}>
        run <code>{workflowId}</code>
      </Link>
    </>
  );
}

/** A link to the children of this run, with their number. */
function Children({ workflowId }: { readonly workflowId: string }): ReactNode {
  const { data: count = 0 } = useChildCount(workflowId);
  if (count === 0) return null;
  return (
    <Fact label="Child runs">
      <Link href={runsPath({ parent: workflowId })}>
        {count > CHILD_COUNT_MAX ? `More than ${CHILD_COUNT_MAX}` : count}{' '}
        {count === 1 ? 'run' : 'runs'}
      </Link>
    </Fact>
  );
}

function RunLink({
  label,
  workflowId,
}: {
  readonly label: string;
  readonly workflowId: string;
}): ReactNode {
  return (
    <Fact label={label}>
      <Link href={toPath('runs', workflowId)}>
        <code>{workflowId}</code>
      </Link>
    </Fact>
  );
}

function RunTabs({ run }: { readonly run: Workflow }): ReactNode {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const tab = TABS.find((name) => name === search.get('tab')) ?? 'overview';
  const executions = useExecutions(run.workflowId);
  const show = (next: TabName, step: string | null = null): void => {
    const parameters = new URLSearchParams({
      ...(next !== 'overview' && { tab: next }),
      ...(step !== null && { step }),
    });
    const text = parameters.toString();
    navigate(`${toPath('runs', run.workflowId)}${text === '' ? '' : `?${text}`}`);
  };
  return (
    <Tabs
      className="tabs"
      selectedKey={tab}
      onSelectionChange={(key) => show(TABS.find((name) => name === key) ?? 'overview')}
    >
      <TabList className="tab-list" aria-label="Views of the run">
        {TABS.map((name) => (
          <Tab key={name} id={name} className="tab">
            {TAB_LABELS[name]}
          </Tab>
        ))}
      </TabList>
      {executions.error !== null && <ProblemView error={executions.error} />}
      <TabPanel id="overview">
        <Overview run={run} executions={executions.data} onSelect={(step) => show('steps', step)} />
      </TabPanel>
      <TabPanel id="steps">
        {executions.isPending ? (
          <Loading />
        ) : (
          <StepList run={run} isLong={executions.data?.isCut === true} />
        )}
      </TabPanel>
      <TabPanel id="data">
        <DataView run={run} executions={executions.data} />
      </TabPanel>
      <TabPanel id="log">
        <LogView run={run} />
      </TabPanel>
      <TabPanel id="history">
        <AuditList workflowId={run.workflowId} />
      </TabPanel>
    </Tabs>
  );
}

/** The state of the run in the graph of its definition, and its timeline. */
function Overview({
  run,
  executions,
  onSelect,
}: {
  readonly run: Workflow;
  readonly executions: Executions | undefined;
  readonly onSelect: (stepId: string) => void;
}): ReactNode {
  const definition = useDefinition(run.definitionId, run.version);
  const isSuspended = run.status === 'Suspended';
  const zone = useZone();
  const states = useMemo(
    () => liveStatesOf(executions?.items ?? [], isSuspended, executions?.isCut === true),
    // The states contain times in the zone that the user has chosen.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [executions, isSuspended, zone],
  );
  return (
    <>
      {definition.error !== null && <ProblemView error={definition.error} />}
      {definition.data !== undefined && (
        <WorkflowGraph
          definition={definition.data}
          states={states}
          {...(executions !== undefined && { executions: executions.items })}
          onSelectStep={onSelect}
          label="Steps of the definition and their state in this run"
        />
      )}
      {executions?.isCut === true && (
        <p className="hint">This run is long: the graph counts only {CUT_WORDS}.</p>
      )}
      {executions !== undefined && (
        <section aria-labelledby="timeline-title" className="timeline-section">
          <h2 id="timeline-title">Timeline</h2>
          <Timeline run={run} executions={executions} onSelect={onSelect} />
        </section>
      )}
    </>
  );
}
