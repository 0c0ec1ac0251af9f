import { isApiError, type Limit } from '@stepwright/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { useRereadOnChange, useSlowPollInterval } from '../../app/live.js';
import { toPath } from '../../app/path.js';
import { useSession } from '../../app/session.js';
import { Button } from '../../components/button.js';
import { useConfirm } from '../../components/confirm-dialog.js';
import { DataTable } from '../../components/data-table.js';
import { Fact } from '../../components/fact.js';
import { Loading } from '../../components/loading.js';
import { Page } from '../../components/page.js';
import { ProblemView } from '../../components/problem-view.js';
import { TimeAgo } from '../../components/time-ago.js';
import { useToasts } from '../../components/toasts.js';
import { LimitForm } from './limit-form.js';
import { settingsInWords } from './limit-settings.js';
import { keyColumns } from './limit-use.js';
import './limits.css';

/** The keys that the API returns at most. */
const KEYS_MAX = 100;

/** One limit, with its use by key. */
export function LimitPage({ name }: { readonly name: string }): ReactNode {
  const { client } = useSession();
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const removal = useRemoval(name);
  const query = useQuery({
    queryKey: ['limit', name],
    queryFn: ({ signal }) => client.limits.get(name, { signal }),
    refetchInterval: useSlowPollInterval(),
  });
  const reread = (): void => void queries.invalidateQueries({ queryKey: ['limit', name] });
  useRereadOnChange(reread);
  const limit = query.data;
  return (
    <Page
      title={name}
      heading={<bdi>{name}</bdi>}
      actions={
        limit !== undefined && (
          <>
            <Button needs="author" onPress={() => setEditing(true)}>
              Change
            </Button>
            <Button needs="author" variant="danger" onPress={removal.ask}>
              Remove
            </Button>
          </>
        )
      }
    >
      <p>
        <Link href="/limits">All limits</Link>
      </p>
      {removal.error !== null && <RemovalRefused error={removal.error} />}
      {query.error !== null && <ProblemView error={query.error} onRetry={reread} />}
      {query.isPending && <Loading />}
      {limit !== undefined && <Details limit={limit} />}
      {isEditing && limit !== undefined && (
        <LimitForm existing={limit} onStored={reread} onClose={() => setEditing(false)} />
      )}
    </Page>
  );
}

function Details({ limit }: { readonly limit: Limit }): ReactNode {
  const { concurrency, createdBy, description, held, keys, updatedAt, waiting } = limit;
  return (
    <>
      {description !== null && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <dl className="facts">
        <Fact label="Allows, for each key">{settingsInWords(limit)}</Fact>
        <Fact label="Units held">{held.toLocaleString('en')}</Fact>
        <Fact label="Steps waiting">{waiting.toLocaleString('en')}</Fact>
        <Fact label="Changed">
          <TimeAgo time={updatedAt} />
        </Fact>
        <Fact label="Created by">
          <bdi>{createdBy}</bdi>
        </Fact>
      </dl>
      <h2>Keys</h2>
      {keys.length === 0 ? (
        <p className="quiet">No step holds it, and none waits for it.</p>
      ) : (
        <DataTable
          label="Keys"
          columns={keyColumns(concurrency)}
          rows={keys}
          rowKey={({ key }) => JSON.stringify(key)}
        />
      )}
      {keys.length >= KEYS_MAX && (
        <p className="hint">At most {KEYS_MAX} keys, with the most waiting steps first.</p>
      )}
      {waiting > 0 && (
        <p className="hint">The page of a run that waits says who holds the slots.</p>
      )}
    </>
  );
}

/** The error, with links to the definitions that use the limit. */
function RemovalRefused({ error }: { readonly error: unknown }): ReactNode {
  const ids = isApiError(error) ? definitionsIn(error.problem) : [];
  return (
    <>
      <ProblemView error={error} />
      {ids.length > 0 && (
        <p className="limit-users">
          Used by:
          {ids.map((id) => (
            <Link key={id} href={toPath('definitions', id)}>
              <bdi>{id}</bdi>
            </Link>
          ))}
        </p>
      )}
    </>
  );
}

function definitionsIn(problem: object): readonly string[] {
  const ids: unknown = 'definitionIds' in problem ? problem.definitionIds : null;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}

function useRemoval(name: string): { readonly ask: () => void; readonly error: unknown } {
  const { client, noticeFailure } = useSession();
  const { say } = useToasts();
  const confirm = useConfirm();
  const [, navigate] = useLocation();
  const [error, setError] = useState<unknown>(null);
  const remove = async (): Promise<void> => {
    setError(null);
    const isWanted = await confirm({
      title: `Remove ${name}?`,
      text: 'It is only removed if the newest version of no definition names it. Steps of older versions that name it then fail.',
      confirm: 'Remove',
      isDangerous: true,
    });
    if (!isWanted) return;
    try {
      await client.limits.remove(name);
      say(`${name} was removed.`);
      navigate('/limits');
    } catch (problem) {
      noticeFailure(problem);
      setError(problem);
    }
  };
  return { ask: () => void remove(), error };
}
