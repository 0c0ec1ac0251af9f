import type { DefinitionDocument, OpenSteps } from '@stepwright/sdk';
import { useMemo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { useAddressQuery } from '../../app/address-query.js';
import { toPath } from '../../app/path.js';
import { EmptyState } from '../../components/empty-state.js';
import { JsonView } from '../../components/json-view.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { ViewChoice } from '../../components/view-choice.js';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.js';
import { TextChanges } from '../../editor/text-changes.js';
import { atPointer, findStep } from '../../graph/find-step.js';
import { readDefinition } from '../../graph/read-definition.js';
import { WorkflowGraph } from '../../graph/workflow-graph.js';
import { runsPath, WITH_CHILDREN } from '../runs/run-filter.js';
import { AvailabilityButton, DisabledNote } from './availability.js';
import { documentText, formatOf, type DocumentFormat } from './document-text.js';
import { TriggersView } from './triggers-view.js';
import { useDefinition, useLatestDefinition, useOpenSteps, useSource } from './use-definition.js';
import { VersionChoice, wantedVersion } from './version-choice.js';
import './definitions.css';

/** One definition: its graph, document and changes, in any version. */
export function DefinitionPage({ id }: { readonly id: string }): ReactNode {
  const [search, setSearch] = useAddressQuery();
  const latest = useLatestDefinition(id);
  const latestVersion = latest.data?.version ?? 1;
  const version = wantedVersion(search.get('version'), latestVersion);
  const shown = useDefinition(id, version, latest.data !== undefined);
  const view = viewIn(search);
  const error = latest.error ?? shown.error;
  const choose = (name: string, value: string): void =>
    setSearch({ ...Object.fromEntries(search), [name]: value });
  return (
    <Page
      title={id}
      heading={<bdi>{id}</bdi>}
      actions={latest.data !== undefined && <Actions definition={latest.data} />}
    >
      {error !== null && <ProblemView error={error} onRetry={() => void latest.refetch()} />}
      {shown.isPending && error === null && <Loading />}
      {latest.data !== undefined && <DisabledNote definition={latest.data} />}
      {shown.data !== undefined && (
        <>
          <Description text={shown.data.description ?? null} />
          <Origin text={shown.data.origin ?? null} />
          <div className="definition-bar">
            <ViewChoice
              label="Show"
              views={VIEWS}
              view={view}
              onChoose={(next) => choose('view', next)}
            />
            <VersionChoice
              {...{ version, latestVersion }}
              onChoose={(next) => choose('version', String(next))}
            />
          </div>
          {view === 'graph' && <DefinitionGraph definition={shown.data} />}
          {view === 'triggers' && <TriggersView definitionId={id} />}
          {view === 'document' && <DefinitionText definition={shown.data} />}
          {view === 'changes' && <DefinitionChanges {...{ id, version, latestVersion }} />}
        </>
      )}
    </Page>
  );
}

function Actions({ definition }: { readonly definition: DefinitionDocument }): ReactNode {
  const { id } = definition;
  return (
    <>
      <Link className="button" href={runsPath({ definitionId: id, parent: WITH_CHILDREN })}>
        Runs
      </Link>
      <Link className="button" href={toPath('definitions', id, 'edit')}>
        Edit
      </Link>
      <AvailabilityButton definition={definition} />
      <Link className="button primary" href={toPath('definitions', id, 'start')}>
        Start a run
      </Link>
    </>
  );
}

function Description({ text }: { readonly text: string | null }): ReactNode {
  if (text === null || text === '') return null;
  return (
    <p className="quiet">
      <bdi>{text}</bdi>
    </p>
  );
}

/** Where the shown version comes from. */
function Origin({ text }: { readonly text: string | null }): ReactNode {
  if (text === null) return null;
  return (
    <p className="quiet">
      From <bdi>{text}</bdi>
    </p>
  );
}

const VIEWS = {
  graph: 'Graph',
  triggers: 'Triggers',
  document: 'Document',
  changes: 'Changes',
} as const;
type View = keyof typeof VIEWS;

function viewIn(address: URLSearchParams): View {
  const view = address.get('view');
  return view === 'document' || view === 'changes' || view === 'triggers' ? view : 'graph';
}

const FORMATS = ['source', 'yaml', 'json'] as const;

function DefinitionText({ definition }: { readonly definition: DefinitionDocument }): ReactNode {
  const [format, setFormat] = useState<DocumentFormat | 'source'>('source');
  const source = useSource(definition);
  if (source.error !== null) return <ProblemView error={source.error} />;
  if (source.data === undefined) return <Loading />;
  const text = format === 'source' ? source.data : documentText(definition, format);
  return (
    <div className="stacked">
      <label className="inline-field">
        <span>Format</span>
        <select
          value={format}
          onChange={({ target }) =>
            setFormat(FORMATS.find((one) => one === target.value) ?? 'source')
          }
        >
          <option value="source">As posted</option>
          <option value="yaml">YAML</option>
          <option value="json">JSON</option>
        </select>
      </label>
      <LazyCodeEditor
        label="Definition document"
        language={format === 'source' ? formatOf(text) : format}
        value={text}
      />
    </div>
  );
}

/** The changes between two versions; at first, between the selected version and the one before it. */
function DefinitionChanges({
  id,
  version,
  latestVersion,
}: {
  readonly id: string;
  readonly version: number;
  readonly latestVersion: number;
}): ReactNode {
  const [other, setOther] = useState(Math.max(1, version - 1));
  const before = useDefinition(id, other, true);
  const after = useDefinition(id, version, true);
  const error = before.error ?? after.error;
  if (latestVersion === 1) {
    return (
      <EmptyState title="This definition has only one version.">
        <p>Publish another version to see the changes here.</p>
      </EmptyState>
    );
  }
  return (
    <div className="stacked">
      <VersionChoice
        label="Compared with version"
        version={other}
        latestVersion={latestVersion}
        onChoose={setOther}
      />
      {error !== null && <ProblemView error={error} />}
      {before.data?.version === other && after.data?.version === version && (
        <TextChanges
          key={`${other} ${version}`}
          label={`Changes from version ${other} to version ${version}`}
          language="yaml"
          before={documentText(before.data, 'yaml')}
          after={documentText(after.data, 'yaml')}
        />
      )}
    </div>
  );
}

function DefinitionGraph({ definition }: { readonly definition: DefinitionDocument }): ReactNode {
  const [stepId, setStepId] = useState<string | null>(null);
  const graph = useMemo(() => readDefinition(definition), [definition]);
  const open = useOpenSteps(definition);
  const runCounts = useMemo(
    () => new Map(open?.items.map((item) => [item.stepId, item.count])),
    [open],
  );
  const step = stepId === null ? null : findStep(graph, stepId);
  return (
    <>
      {open !== undefined && open.count > 0 && <OpenRunsNote open={open} />}
      <div className={step === null ? 'definition-graph' : 'definition-graph with-step'}>
        <WorkflowGraph
          definition={definition}
          label={`Steps of ${definition.id}`}
          runCounts={runCounts}
          selectedStepId={stepId}
          onSelectStep={(next) => setStepId(next === stepId ? null : next)}
        />
        {step !== null && (
          <section className="panel" aria-label={`Step ${step.id}`}>
            <h2>
              <bdi>{step.name ?? step.id}</bdi>
            </h2>
            <JsonView value={atPointer(definition, step.pointer)} label="Members of the step" />
          </section>
        )}
      </div>
    </>
  );
}

function OpenRunsNote({ open: { count, exact } }: { readonly open: OpenSteps }): ReactNode {
  const runs = `${count} open ${count === 1 ? 'run' : 'runs'}`;
  return (
    <p className="hint">
      {exact
        ? `The graph shows where ${runs} of this version ${count === 1 ? 'is' : 'are'}.`
        : `There are many open runs of this version. The graph shows where the ${runs} are that have not changed for the longest time.`}
    </p>
  );
}
