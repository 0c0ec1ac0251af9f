import type { DefinitionDocument } from '@stepwright/sdk';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useLive, usePollInterval } from '../../app/live.js';
import { useSession } from '../../app/session.js';
import { JsonView } from '../../components/json-view.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { atPointer, findStep } from '../../graph/find-step.js';
import { readDefinition } from '../../graph/read-definition.js';
import { WorkflowGraph } from '../../graph/workflow-graph.js';
import './definitions.css';

/** One definition: its graph and document in any version. */
export function DefinitionPage({ id }: { readonly id: string }): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [search, setSearch] = useSearchParams();
  const newest = useQuery({
    queryKey: ['definition', id, 'newest'],
    queryFn: ({ signal }) => client.definitions.get(id, { signal }),
    refetchInterval: usePollInterval(),
  });
  useLive(({ definitions, lag }) => {
    if (definitions.has(id) || lag) {
      void queries.invalidateQueries({ queryKey: ['definition', id, 'newest'] });
    }
  });
  const newestVersion = newest.data?.version ?? 1;
  const version = wantedVersion(search.get('version'), newestVersion);
  const shown = useDefinition(id, version, newest.data);
  const error = newest.error ?? shown.error;
  return (
    <Page
      title={id}
      heading={<bdi>{id}</bdi>}
      actions={
        newest.data !== undefined && (
          <>
            <VersionChoice
              {...{ version, newestVersion }}
              onChoose={(next) => {
                setSearch((before) => {
                  before.set('version', String(next));
                  return before;
                });
              }}
            />
            <Link className="button" href={`/runs?definitionId=${encodeURIComponent(id)}`}>
              Runs
            </Link>
          </>
        )
      }
    >
      {error !== null && <ProblemView error={error} onRetry={() => void newest.refetch()} />}
      {shown.isPending && error === null && <Loading />}
      {shown.data !== undefined && <DefinitionGraph definition={shown.data} />}
    </Page>
  );
}

/** A version never changes, so it is asked for once. */
function useDefinition(id: string, version: number, newest: DefinitionDocument | undefined) {
  const { client } = useSession();
  return useQuery({
    queryKey: ['definition', id, version],
    queryFn: ({ signal }) => client.definitions.get(id, { version, signal }),
    enabled: newest !== undefined,
    staleTime: Infinity,
    placeholderData: keepPreviousData,
  });
}

function VersionChoice({
  version,
  newestVersion,
  onChoose,
}: {
  readonly version: number;
  readonly newestVersion: number;
  readonly onChoose: (version: number) => void;
}): ReactNode {
  return (
    <label className="inline-field">
      <span>Version</span>
      <input
        type="number"
        min={1}
        max={newestVersion}
        value={version}
        onChange={({ target }) => {
          if (target.validity.valid && target.value !== '') onChoose(target.valueAsNumber);
        }}
      />
      <span className="hint">of {newestVersion}</span>
    </label>
  );
}

function DefinitionGraph({ definition }: { readonly definition: DefinitionDocument }): ReactNode {
  const [stepId, setStepId] = useState<string | null>(null);
  const graph = useMemo(() => readDefinition(definition), [definition]);
  const step = stepId === null ? null : findStep(graph, stepId);
  return (
    <div className={step === null ? 'definition-graph' : 'definition-graph with-step'}>
      <WorkflowGraph
        definition={definition}
        label={`Steps of ${definition.id}`}
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
      {definition.description !== null && definition.description !== undefined && (
        <p className="quiet definition-description">
          <bdi>{definition.description}</bdi>
        </p>
      )}
    </div>
  );
}

function wantedVersion(text: string | null, newest: number): number {
  const version = Number(text);
  return Number.isInteger(version) && version >= 1 && version <= newest ? version : newest;
}
