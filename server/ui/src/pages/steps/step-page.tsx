import type { StepSummary } from '@stepwright/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { LazyCodeEditor } from '../../editor/lazy-code-editor.js';
import { ScriptEditor } from './script-editor.js';

/** One custom step: its script and changes in any version, and an editor for the next one. */
export function StepPage({ name }: { readonly name: string }): ReactNode {
  const { client } = useSession();
  const [isEditing, setEditing] = useState(false);
  const [chosen, setChosen] = useState<number | null>(null);
  const versions = useQuery({
    queryKey: ['step versions', name],
    queryFn: ({ signal }) => client.steps.versions(name, { limit: 200, signal }).page(),
  });
  const items = versions.data?.items ?? [];
  const version = chosen ?? items[0]?.version ?? null;
  const script = useScript(name, version);
  const error = versions.error ?? script.error;
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      actions={
        <Button isDisabled={script.data === undefined} onPress={() => setEditing(!isEditing)}>
          {isEditing ? 'Stop editing' : 'Edit'}
        </Button>
      }
    >
      {error !== null && <ProblemView error={error} onRetry={() => void versions.refetch()} />}
      {script.isPending && error === null && <Loading />}
      {isEditing && script.data !== undefined && (
        <ScriptEditor
          {...{ name, initialScript: script.data, latestVersion: items[0]?.version ?? null }}
          onStored={() => {
            setEditing(false);
            setChosen(null);
            void versions.refetch();
          }}
        />
      )}
      {!isEditing && version !== null && script.data !== undefined && (
        <Script
          {...{ name, version, script: script.data, versions: items }}
          onChoose={(next) => setChosen(next)}
        />
      )}
    </Page>
  );
}

/** A version never changes, so it is fetched only once. */
function useScript(name: string, version: number | null) {
  const { client } = useSession();
  return useQuery({
    queryKey: ['step', name, version],
    queryFn: ({ signal }) =>
      client.steps.get(name, { signal, ...(version !== null && { version }) }),
    enabled: version !== null,
    staleTime: Infinity,
  });
}

interface ScriptProps {
  readonly name: string;
  readonly version: number;
  readonly script: string;
  readonly versions: readonly StepSummary[];
  readonly onChoose: (version: number) => void;
}

function Script({ name, version, script, versions, onChoose }: ScriptProps): ReactNode {
  const [compared, setCompared] = useState<number | null>(null);
  const other = useScript(name, compared);
  const original = compared === null ? undefined : other.data;
  return (
    <div className="stacked">
      <div className="definition-bar">
        <VersionSelect label="Version" {...{ versions }} value={version} onChoose={onChoose} />
        <VersionSelect
          label="Compare with"
          {...{ versions }}
          value={compared}
          onChoose={setCompared}
          onNone={() => setCompared(null)}
        />
        <span className="hint">
          published{' '}
          <TimeAgo time={versions.find((one) => one.version === version)?.createdAt ?? null} />
        </span>
      </div>
      {other.error !== null && <ProblemView error={other.error} />}
      <LazyCodeEditor
        key={`${version} ${original === undefined ? '' : String(compared)}`}
        label={original === undefined ? 'Script' : `Changes from version ${String(compared)}`}
        language="python"
        value={script}
        {...(original !== undefined && { original })}
      />
    </div>
  );
}

function VersionSelect({
  label,
  versions,
  value,
  onChoose,
  onNone,
}: {
  readonly label: string;
  readonly versions: readonly StepSummary[];
  readonly value: number | null;
  readonly onChoose: (version: number) => void;
  readonly onNone?: () => void;
}): ReactNode {
  return (
    <label className="inline-field">
      <span>{label}</span>
      <select
        value={value ?? ''}
        onChange={({ target }) => {
          if (target.value === '') onNone?.();
          else onChoose(Number(target.value));
        }}
      >
        {onNone !== undefined && <option value="">none</option>}
        {versions.map(({ version }) => (
          <option key={version} value={version}>
            {version}
          </option>
        ))}
      </select>
    </label>
  );
}
